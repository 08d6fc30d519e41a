package booking

import "time"

// Cents is an amount of money.
type Cents int64

// Passenger is who travels.
type Passenger struct {
	Age     int
	Island  bool // lives on the island
	Vehicle float64
}

// Fare is what one passenger pays for one crossing.
func Fare(base Cents, p Passenger, sailing time.Time) Cents {
	price := base
	switch {
	case p.Age < 4:
		return 0
	case p.Age < 15:
		price = base / 2
	case p.Age >= 67:
		price = base * 4 / 5
	}
	if p.Island {
		price = price * 6 / 10
	}
	return price + vehicleCharge(p.Vehicle) + peakCharge(base, sailing)
}

// vehicleCharge depends on the length in metres, in steps of half a metre above five.
func vehicleCharge(length float64) Cents {
	if length <= 0 {
		return 0
	}
	charge := Cents(2400)
	for over := length - 5; over > 0; over -= 0.5 {
		charge += 350
	}
	return charge
}

// peakCharge is a fifth of the base on summer weekends.
func peakCharge(base Cents, sailing time.Time) Cents {
	summer := sailing.Month() >= time.June && sailing.Month() <= time.August
	weekend := sailing.Weekday() == time.Saturday || sailing.Weekday() == time.Sunday
	if summer && weekend {
		return base / 5
	}
	return 0
}

// Split divides an amount among n payers. The first ones pay the cents that are left over.
func Split(total Cents, n int) []Cents {
	parts := make([]Cents, n)
	for i := range parts {
		parts[i] = total / Cents(n)
		if Cents(i) < total%Cents(n) {
			parts[i]++
		}
	}
	return parts
}
