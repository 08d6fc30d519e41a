package redact

import (
	"strings"
	"testing"
)

func TestValue(t *testing.T) {
	for _, tc := range []struct {
		names, value string // names with blanks between them
		secret       bool
	}{
		{"password", "correcthorsebattery", true},
		{"password", "correct horse battery staple", true},
		{"password", "12345678", true},
		{"DB_PASSWORD", "hunter2!", true},
		{"dbPassword1", "hunter2", true},
		{"--password", "S3cr3t", true},
		{"mysqlpassword", "abcdef", true},
		{"passwordConfirm", "hunter2", true},
		{"user passwd", "abcd", true},
		{"credentials pass", "hunter2", true},
		{"credentials db", "x7Qp2vT9w", true},
		{"secret value", "correcthorse", true},
		{"secret", "correcthorse", true},
		{"apiKey", "abcdefgh", true},
		{"X-Api-Key", "abcdefgh", true},
		{"APIKey", "abcdefgh", true},
		{"aws_secret_access_key", "abcdefgh", true},
		{"token", "correcthorse", true},
		{"authToken value", "abcdefgh", true},
		{"Authorization", "Token abcd1234", true},
		{"authorization", "Basic bm90", true},
		{"note", "see https://u:pw4you@example.org", true},

		{"password", "", false},
		{"password", "x", false},
		{"password", "********", false},
		{"password", "${DB_PASSWORD}", false},
		{"password", "must be at least 8 characters", false},
		{"password", "#password", false},
		{"password", "string", false},
		{"password type", "string", false},
		{"password minLength", "8", false},
		{"password description", "correct horse", false},
		{"password_hint", "horses", false},
		{"secret", "/run/secrets/db", false},
		{"secretName", "database-login", false},
		{"secret name", "database-login1", false},
		{"secrets", "DEPLOY_KEY", false},
		{"token", "8192", false},
		{"token", "word", false},
		{"max_tokens", "1000", false},
		{"tokens", "10000000", false},
		{"token_type", "bearer-token", false},
		{"tokenCount", "12345678", false},
		{"authorization", "required", false},
		{"compass", "north-east", false},
		{"pass", "120", false},
		{"pass", "passed", false},
		{"author", "somebody1", false},
		{"key", "ArrowDown", false},
		{"name", "password", false},
		{"", "correcthorse", false},
	} {
		clean, n := Value(tc.value, strings.Fields(tc.names)...)
		if got := n > 0; got != tc.secret || !got && clean != tc.value {
			t.Errorf("%q of %q becomes %q with %d taken out; is a secret: %v", tc.value, tc.names, clean, n, tc.secret)
		}
		if again, m := Value(clean, strings.Fields(tc.names)...); again != clean || m != 0 {
			t.Errorf("%q of %q becomes %q the second time", clean, tc.names, again)
		}
	}
}
