package memory

import "strconv"

// Name is a name that a query asks for: "Serve", with the declaration that contains it
// if the query gives one: "Server", "http".
type Name struct{ Name, In string }

// String writes a name as it would be asked for.
func (n Name) String() string {
	if n.In == "" {
		return n.Name
	}
	return n.In + "." + n.Name
}

// Definition is a document that declares a name.
type Definition struct {
	// Places are where it lies, those inside the named declaration
	// first. There is at least one.
	Places []Candidate
	// Exact says that the name is written as it was asked for, in case and style.
	Exact bool
	// Within says that it is declared in what was asked for: in a type of that name,
	// or in a file or folder of that name. It is true if nothing was.
	Within bool
}

// ChunkRef is a piece of code by its id, and where it is to be read.
type ChunkRef struct {
	ID       string
	Location Location
	// Head says that it is how a file begins.
	Head bool
}

// CodeLocation is a place in code that a question names: a path as somebody saw it, which
// may begin above the repository or within it, and a line from 1, 0 for none.
type CodeLocation struct {
	Path string
	Line int
}

// String writes a place as compilers do.
func (p CodeLocation) String() string {
	if p.Line == 0 {
		return p.Path
	}
	return p.Path + ":" + strconv.Itoa(p.Line)
}
