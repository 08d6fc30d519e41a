package chunk

import (
	"go/ast"
	"go/parser"
	"go/token"
)

// goUnits returns the declarations of a Go file with their comments. A file that does not
// parse is split by its braces.
func goUnits(t *text) []unit {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "", t.src, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return syntaxes["go"].units(t, "go")
	}
	g := &goFile{t: t, tok: fset.File(file.FileStart)}
	for _, d := range file.Decls {
		g.define(d)
	}
	head := unit{first: g.line(file.Package), name: "package " + file.Name.Name}
	head.last = head.first
	if file.Doc != nil {
		head.first = g.line(file.Doc.Pos())
	}
	units := []unit{head}
	for _, d := range file.Decls {
		u := g.decl(d)
		last := &units[len(units)-1]
		switch {
		case u.first <= last.last: // two on one line
			last.last = max(last.last, u.last)
			last.inner = nil
			if u.name != "" {
				last.name = listNames([]string{last.name, u.name})
			}
		case isImport(d) && len(units) == 1:
			last.last = u.last
		default:
			units = append(units, u)
		}
	}
	return units
}

func isImport(d ast.Decl) bool {
	g, ok := d.(*ast.GenDecl)
	return ok && g.Tok == token.IMPORT
}

type goFile struct {
	t   *text
	tok *token.File
}

// line returns the line of a position; //line comments do not count.
func (g *goFile) line(p token.Pos) int { return g.tok.PositionFor(p, false).Line - 1 }

// lines returns a node as a unit, with the comment above it.
func (g *goFile) lines(n ast.Node, doc *ast.CommentGroup) unit {
	first := g.line(n.Pos())
	if doc != nil {
		first = g.line(doc.Pos())
	}
	return unit{first: first, last: g.line(n.End())}
}

func (g *goFile) decl(d ast.Decl) unit {
	switch d := d.(type) {
	case *ast.FuncDecl:
		u := g.lines(d, d.Doc)
		u.name = d.Name.Name
		if d.Recv != nil && len(d.Recv.List) > 0 {
			u.name = joinNames(receiver(d.Recv.List[0].Type), u.name)
		}
		g.costs(u, d)
		return u
	case *ast.GenDecl:
		u := g.lines(d, d.Doc)
		var names []string
		for _, s := range d.Specs {
			in := g.spec(s)
			names = append(names, in.name)
			// Specs on one line are one unit.
			if n := len(u.inner); n == 0 || u.inner[n-1].last < in.first {
				u.inner = append(u.inner, in)
			} else {
				u.inner[n-1].last = max(u.inner[n-1].last, in.last)
			}
		}
		if d.Tok == token.IMPORT {
			return unit{first: u.first, last: u.last}
		}
		u.name = listNames(names)
		if len(d.Specs) < 2 {
			u.inner = nil
		} else if g.t.size(u.first, u.last) > maxChunk {
			u.name = "" // the members' names say it
		}
		g.costs(u, d)
		return u
	}
	return g.lines(d, nil)
}

// define records the names of a declaration: functions, methods, types, methods of
// interfaces, constants and variables.
func (g *goFile) define(d ast.Decl) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		g.defineName(d.Name)
	case *ast.GenDecl:
		for _, s := range d.Specs {
			switch s := s.(type) {
			case *ast.ValueSpec:
				for _, name := range s.Names {
					g.defineName(name)
				}
			case *ast.TypeSpec:
				g.defineName(s.Name)
				if i, ok := s.Type.(*ast.InterfaceType); ok {
					for _, m := range i.Methods.List {
						for _, name := range m.Names {
							g.defineName(name)
						}
					}
				}
			}
		}
	}
}

func (g *goFile) defineName(name *ast.Ident) { g.t.define(g.line(name.Pos()), name.Name) }

func (g *goFile) spec(s ast.Spec) unit {
	switch s := s.(type) {
	case *ast.TypeSpec:
		u := g.lines(s, s.Doc)
		u.name = s.Name.Name
		return u
	case *ast.ValueSpec:
		u := g.lines(s, s.Doc)
		var names []string
		for _, n := range s.Names {
			names = append(names, n.Name)
		}
		u.name = listNames(names)
		return u
	}
	return g.lines(s, nil)
}

// receiver returns the name of a receiver's type.
func receiver(x ast.Expr) string {
	for {
		switch t := x.(type) {
		case *ast.StarExpr:
			x = t.X
		case *ast.ParenExpr:
			x = t.X
		case *ast.IndexExpr:
			x = t.X
		case *ast.IndexListExpr:
			x = t.X
		case *ast.Ident:
			return t.Name
		default:
			return ""
		}
	}
}

// costs sets the cost of splitting a unit: at the first line of a statement, field or
// element its depth, elsewhere much more.
func (g *goFile) costs(u unit, d ast.Decl) {
	t := g.t
	if t.size(u.first, u.last) <= maxChunk {
		return
	}
	if t.cost == nil {
		t.cost = t.indentCosts()
	}
	for i := u.first + 1; i <= u.last; i++ {
		t.cost[i] = costWithin
	}
	depth := 0
	begins := map[int]int{} // of lines with a statement: where their comment begins
	at := func(p token.Pos) {
		line := g.line(p)
		i, known := begins[line]
		if !known {
			for i = line; i > u.first && g.commentLine(i-1); i-- { // a comment belongs to the line below it
			}
			begins[line] = i
		}
		cost := 4 * depth
		if i > u.first && !t.blank(i-1) {
			cost += 2
		}
		t.cost[i] = min(t.cost[i], cost)
	}
	statements := func(list []ast.Stmt) {
		for _, s := range list {
			at(s.Pos())
		}
	}
	ast.PreorderStack(d, nil, func(n ast.Node, stack []ast.Node) bool {
		depth = len(stack)
		switch n := n.(type) {
		case *ast.BlockStmt:
			statements(n.List)
		case *ast.CaseClause:
			at(n.Pos())
			statements(n.Body)
		case *ast.CommClause:
			at(n.Pos())
			statements(n.Body)
		case *ast.FieldList:
			for _, f := range n.List {
				at(f.Pos())
			}
		case *ast.CompositeLit:
			for _, e := range n.Elts {
				at(e.Pos())
			}
		case *ast.ValueSpec, *ast.TypeSpec:
			at(n.Pos())
		}
		return true
	})
}

func (g *goFile) commentLine(i int) bool {
	line := g.t.trimmed(i)
	return len(line) > 1 && line[0] == '/' && line[1] == '/'
}
