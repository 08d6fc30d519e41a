#!/usr/bin/env node
// Starts the program of the package for this platform, which npm installs beside this one.
"use strict";

const { spawn } = require("node:child_process");

const name = `@recalld/${process.platform}-${process.arch}`;
const file = process.platform === "win32" ? "recalld.exe" : "recalld";

let program;
try {
  program = require.resolve(`${name}/bin/${file}`);
} catch {
  console.error(
    `recalld: the package ${name} is not installed.\n` +
      `If npm was told to leave out optional packages, install again without that; else no\n` +
      `release is built for this platform. Other ways: https://github.com/recalld/recalld/blob/main/docs/install.md`,
  );
  process.exit(1);
}

const child = spawn(program, process.argv.slice(2), { stdio: "inherit" });
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
  // A terminal sends SIGINT to both; the program decides what it means.
  process.on(signal, () => signal === "SIGINT" || child.kill(signal));
}
child.on("error", (error) => {
  console.error(`recalld: ${program} cannot be started: ${error.message}`);
  process.exit(1);
});
child.on("exit", (code, signal) => {
  if (signal) {
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  } else {
    process.exit(code);
  }
});
