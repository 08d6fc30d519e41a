package redact

import (
	"strings"
	"testing"
)

// TestCommands: passwords on command lines, and what looks like one to other commands.
func TestCommands(t *testing.T) {
	bot := "123456789" + ":AAE" + "hBP0av28fJ3kqqv5lVhWZQ1a_b-c3d4e"
	bot += strings.Repeat("x", 45-len(bot))
	for in, want := range map[string]string{
		"admin_pass: hunter2":                                 "admin_pass: [redacted:password]",
		"admin_pass: correcthorse":                            "admin_pass: [redacted:password]",
		"  smtp_pass = \"s3cr!t\",":                           "  smtp_pass = \"[redacted:password]\",",
		"DB_PASS=tr0ub4dor":                                   "DB_PASS=[redacted:password]",
		`{"db_pass": "hunter2x"}`:                             `{"db_pass": "[redacted:password]"}`,
		"jenkins_pass: Xk29fLq":                               "jenkins_pass: [redacted:password]",
		bot:                                                   "[redacted:telegram-token]",
		"https://api.telegram.org/bot" + bot + "/x":           "https://api.telegram.org/bot[redacted:telegram-token]/x",
		"curl -u admin:s3cret http://h/":                      "curl -u [redacted:curl-auth-user] http://h/",
		"curl -sSu admin:s3cret http://h/":                    "curl -sSu admin:[redacted:password] http://h/",
		"curl --user 'admin:my pass' http://h/":               "curl --user [redacted:curl-auth-user] http://h/",
		"curl --user=admin:abc http://h/":                     "curl --user=[redacted:curl-auth-user] http://h/",
		"curl -X POST \\\n  -u \"a:b1c2\" http://h/":          "curl -X POST \\\n  -u \"a:[redacted:password]\" http://h/",
		"curl --proxy-user me:hunter2 http://h/":              "curl --proxy-user me:[redacted:password] http://h/",
		"sshpass -p hunter2 ssh me@h":                         "sshpass -p [redacted:password] ssh me@h",
		"sshpass -phunter2 ssh me@h":                          "sshpass -p[redacted:password] ssh me@h",
		"sshpass -p 'my pw' ssh -p 22 me@h":                   "sshpass -p '[redacted:password]' ssh -p 22 me@h",
		"mysql -u root -phunter2 shop":                        "mysql -u root -p[redacted:password] shop",
		"mysql -px":                                           "mysql -p[redacted:password]",
		"mysql -u root -p hunter2 shop":                       "mysql -u root -p [redacted:password] shop",
		"mysqldump --password=abc shop":                       "mysqldump --password=[redacted:password] shop",
		"mysql -p'a b' shop":                                  "mysql -p'[redacted:password]' shop",
		"redis-cli -h h -a hunter2 ping":                      "redis-cli -h h -a [redacted:password] ping",
		"mongosh -u a -p hunter2 db":                          "mongosh -u a -p [redacted:password] db",
		"docker login -u me -p dckr1234 r.io":                 "docker login -u me -p [redacted:password] r.io",
		"ldapsearch -D cn=a -w hunter2 x":                     "ldapsearch -D cn=a -w [redacted:password] x",
		"sqlcmd -S h -U sa -P Str0ng! -Q x":                   "sqlcmd -S h -U sa -P [redacted:password] -Q x",
		"openssl rsa -in k -passin pass:hunter2":              "openssl rsa -in k -passin pass:[redacted:password]",
		"wget --http-password=hunter2 http://h":               "wget --http-password=[redacted:password] http://h",
		"PGPASSWORD=hunter2 psql -h h":                        "PGPASSWORD=[redacted:password] psql -h h",
		`curl -H "Authorization: Basic YWRtaW46aHVudGVyMg=="`: `curl -H "Authorization: Basic [redacted:authorization]"`,
		"git clone https://me:hunter2@h/r.git":                "git clone https://me:[redacted:password]@h/r.git",
		"machine h login me password hunter2":                 "machine h login me password [redacted:password]",
		"//r.io/:_authToken=abcdef123456":                     "//r.io/:_authToken=[redacted:secret]",
	} {
		got, _ := Redact(in)
		if got != want {
			t.Errorf("Redact(%q)\n got %q\nwant %q", in, got, want)
		}
		if again, n := Redact(got); again != got || n != 0 {
			t.Errorf("redacting %q again gives %q", got, again)
		}
	}
	for _, text := range []string{
		"mkdir -p dir/sub1", "ssh -p 22 me@host", "ssh -p2222 host1", `curl -u "$USER" http://h/`, `curl -u "$USER:$PASS" http://h/`, "curl -u $USER:$PASS http://h/",
		"curl -u user:password http://h/", "curl --url http://localhost:8080/a1", "curl -o out.tar.gz https://h/x:y1", "mysql -p", "mysql -u root -p shop", "mysql -P3306 -h db1",
		"docker run --name mysql -p 3306:3306 mysql:8", "docker run -d mysql -p3306:3306", "docker run -p 8080:80 nginx", "cp -p a1 b2", "psql -p 5432 -U app2", "redis-cli -h r1 -p 6379",
		"docker login --password-stdin r.io", "sshpass -e ssh host", "sshpass -f file1 ssh host", "tar -pxf a1.tgz", "pip install -p python3.11", "first_pass: inline", "two_pass = True",
		"user_pass: string", "db_pass: required", "admin_pass = get_pass()", "DB_PASS=$DB_PASS", "db_pass = config.db_pass", "tests_passed: 12", "by_pass1 = 3",
		"10:15:30:AAB ratio 12345678:AA", "sha 123456789:AAaaAA", "npx wrangler -p my-app1", "ldapsearch -x -W", "the curl -u flag takes user:password",
		"openssl req -passin env:PW1", "first pass: parse2 the text",
	} {
		if got, n := Redact(text); got != text || n != 0 {
			t.Errorf("Redact(%q) = %q, want it left alone", text, got)
		}
	}
}
