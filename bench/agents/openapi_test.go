package agents

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// openapiEnv has the description of the API tried with programs of others.
const openapiEnv = "RECALLD_TEST_OPENAPI"

// A validator, a generator of clients, and what runs the client.
var openapiPackages = map[string]string{
	"@seriousme/openapi-schema-validator": "2.11.0", "openapi-typescript-codegen": "0.29.0", "esbuild": "0.25.0", "node": "24.21.0",
}

// generatedUse remembers, recalls and explains by the generated client.
const generatedUse = `
import { CoreService, DaemonService, OpenAPI } from "./client";
OpenAPI.BASE = process.argv[2];
const caller = { dir: process.argv[3] };
const kept = await CoreService.remember({ lesson: "The npm cache belonged to root; give it back first.", context: "npm install fails with EACCES", caller });
const answer = await CoreService.recall({ query: "permission denied in npm install", explain: true, caller });
if (answer.items[0]?.id !== kept.id) throw new Error("not found: " + JSON.stringify(answer));
const receipt = await DaemonService.receipt(answer.receipt);
if (receipt.request.query !== "permission denied in npm install") throw new Error("no receipt: " + JSON.stringify(receipt));
const refused = await CoreService.recall({ query: "", caller }).catch((e) => e);
if (refused.status !== 400 || refused.body?.error?.code !== "invalid_input") throw new Error("not refused: " + JSON.stringify(refused));
console.log("explained", Object.keys(answer.items[0].rank_factors ?? {}).length);
`

// TestGeneratedClient: an independent validator accepts the description of the API, and a
// client that an outside generator makes of it works.
func TestGeneratedClient(t *testing.T) {
	if os.Getenv(openapiEnv) == "" {
		t.Skip("not run: it installs programs from npm; make openapi runs it")
	}
	dir, err := filepath.Abs(filepath.Join("..", "..", ".build", "openapi"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	bin := npm(t, dir, openapiPackages)
	node := filepath.Join(bin, "node")
	run := func(program string, args ...string) string {
		t.Helper()
		out, err := command(t.Context(), dir, nil, node, append([]string{filepath.Join(bin, program)}, args...)...)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	description, err := filepath.Abs(filepath.Join("..", "..", "docs", "openapi.json"))
	if err != nil {
		t.Fatal(err)
	}
	if out := run("validate-api", description); !strings.Contains(out, `"valid": true`) {
		t.Errorf("the description is not valid: %s", out)
	}
	work := t.TempDir()
	run("openapi", "--input", description, "--output", filepath.Join(work, "client"), "--client", "fetch")
	use := filepath.Join(work, "use.ts")
	if err := os.WriteFile(use, []byte(generatedUse), 0o600); err != nil {
		t.Fatal(err)
	}
	bundle := filepath.Join(work, "use.mjs")
	if out, err := command(t.Context(), dir, nil, filepath.Join(bin, "esbuild"), use, "--bundle", "--platform=node", "--format=esm", "--outfile="+bundle); err != nil {
		t.Fatal(out, err)
	}
	endpoint := strings.TrimSuffix(serveFixtures(t, dir), "/mcp")
	out, err := command(t.Context(), work, nil, node, bundle, endpoint, work)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out, "explained ") || strings.Contains(out, "explained 0") {
		t.Errorf("nothing is explained: %s", out)
	}
}
