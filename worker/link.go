package worker

// update changes an entry; every change of state goes through it. The entry is
// taken out of all structures first, since what they order by may change.
func (s *Schedule) update(e *entry, change func()) {
	s.remember(e)
	s.unlink(e)
	change()
	s.link(e)
}

// link enters an entry wherever its state says.
func (s *Schedule) link(e *entry) {
	key, keyed := keyOf(e.job)
	switch e.state {
	case waiting:
		s.jobs[e.job.ID] = e
		if keyed {
			s.waitingByKey[key] = e
		}
		s.order.add(e.job.Priority, e.place)
		if e.job.Droppable {
			s.droppable.push(e)
		}
		s.route(e)
	case running:
		s.jobs[e.job.ID] = e
		s.tokens[e.token] = e
		s.expiry.push(e)
		if keyed {
			s.runningByKey[key] = e
			s.reroute(s.waitingByKey[key])
		}
	case dead:
		s.dead[e.job.ID] = e
		if keyed {
			s.deadByKey[key] = e
		}
	}
	s.counts(e.job.Kind).count(e.state, 1)
}

// unlink undoes link.
func (s *Schedule) unlink(e *entry) {
	key, keyed := keyOf(e.job)
	switch e.state {
	case waiting:
		delete(s.jobs, e.job.ID)
		if keyed {
			delete(s.waitingByKey, key)
		}
		s.order.remove(e.job.Priority, e.place)
		if e.job.Droppable {
			s.droppable.remove(e)
		}
		s.unroute(e)
	case running:
		delete(s.jobs, e.job.ID)
		delete(s.tokens, e.token)
		s.expiry.remove(e)
		if keyed {
			delete(s.runningByKey, key)
			s.reroute(s.waitingByKey[key])
		}
	case dead:
		delete(s.dead, e.job.ID)
		if keyed {
			delete(s.deadByKey, key)
		}
	}
	s.counts(e.job.Kind).count(e.state, -1)
}

func keyOf(job Job) (coalesced, bool) {
	return coalesced{job.Kind, job.Key}, job.Key != ""
}

// route puts a waiting entry where it can be found when its turn comes. One
// that must wait for a time goes to the delays even if that is past: the next
// call knows the time and moves it on.
func (s *Schedule) route(e *entry) {
	key, _ := keyOf(e.job)
	switch {
	case s.runningByKey[key] != nil: // parked until that one is settled
	case e.job.NotBefore.IsZero():
		s.news = true
		s.ready.add(e)
	default:
		s.news = true // of a time to wait for
		e.delayed = true
		s.delays.push(e)
	}
}

func (s *Schedule) unroute(e *entry) {
	switch {
	case e.lane != nil:
		s.ready.remove(e)
	case e.delayed:
		e.delayed = false
		s.delays.remove(e)
	}
}

// reroute looks again at a waiting entry after one of its kind and key began or
// ceased to run; nil is none.
func (s *Schedule) reroute(e *entry) {
	if e != nil {
		s.unroute(e)
		s.route(e)
	}
}
