package worker

// Stats counts the jobs of a queue.
type Stats struct {
	KindStats
	ByKind map[string]KindStats
}

// KindStats counts the jobs of one kind.
type KindStats struct {
	Waiting int
	Running int
	Dead    int
	// Dropped counts the jobs that gave way since the queue was opened.
	Dropped int
}

func (k *KindStats) count(st state, by int) {
	switch st {
	case waiting:
		k.Waiting += by
	case running:
		k.Running += by
	case dead:
		k.Dead += by
	}
}

// Stats counts the jobs.
func (s *Schedule) Stats() Stats {
	all := Stats{ByKind: make(map[string]KindStats, len(s.kinds))}
	for kind, k := range s.kinds {
		if *k == (KindStats{}) {
			continue
		}
		all.ByKind[kind] = *k
		all.Waiting += k.Waiting
		all.Running += k.Running
		all.Dead += k.Dead
		all.Dropped += k.Dropped
	}
	return all
}

// counts returns the counters of a kind, to be changed.
func (s *Schedule) counts(kind string) *KindStats {
	k := s.kinds[kind]
	if k == nil {
		k = &KindStats{}
		s.kinds[kind] = k
	}
	return k
}
