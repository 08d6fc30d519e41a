// This file lets rest.go declare functions without a body.
