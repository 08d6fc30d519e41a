// Records in recalld what OpenCode does. `recalld connect opencode` writes this file, and
// overwrites what is changed in it; `recalld connect opencode --remove` removes it.
import { spawn } from "node:child_process"

const { command, prompts } = SETTINGS

// run hands an event to recalld and returns the text that it has for the model, if any.
function run(event, payload) {
  return new Promise((done) => {
    const [program, hook, client, ...rest] = command
    const child = spawn(program, [hook, client, event, ...rest], { stdio: ["pipe", "pipe", "ignore"], windowsHide: true })
    let out = ""
    const late = setTimeout(() => child.kill(), 3000)
    const end = () => {
      clearTimeout(late)
      try {
        done(JSON.parse(out).hookSpecificOutput.additionalContext)
      } catch {
        done("")
      }
    }
    child.on("error", end)
    child.on("close", end)
    child.stdout.setEncoding("utf8") // else a character between two chunks is lost
    child.stdout.on("data", (text) => { out += text })
    child.stdin.on("error", () => {})
    child.stdin.end(JSON.stringify(payload))
  })
}

export const Recalld = async ({ directory }) => {
  const parents = new Map() // sessions of subagents, with the session that started them
  const briefs = new Map() // what a session's model is told at its start
  const lessons = new Map() // what it is told about its last prompt
  const begun = new Map() // calls of tools, with their inputs and times
  const session = (id) => parents.get(id) ?? id
  const say = (id, rest) => ({ session_id: session(id), cwd: directory, ...rest })
  return {
    event: async ({ event }) => {
      const { info, part, sessionID } = event.properties ?? {}
      if (event.type === "session.created") {
        if (info.parentID) parents.set(info.id, session(info.parentID))
        else briefs.set(info.id, await run("SessionStart", say(info.id)))
      } else if (event.type === "session.deleted" && !info?.parentID) {
        await run("SessionEnd", say(info?.id ?? sessionID))
      } else if (event.type === "message.part.updated" && part?.type === "tool" && part.state?.status === "error" && begun.delete(part.callID)) {
        await run("PostToolUseFailure", say(part.sessionID, { tool_name: part.tool, tool_input: part.state.input, error: part.state.error }))
      }
    },
    "chat.message": async ({ sessionID }, { parts }) => {
      const text = parts.find((part) => part.type === "text" && !part.synthetic)?.text
      if (!prompts || !text) return
      lessons.set(sessionID, await run("UserPromptSubmit", say(sessionID, { prompt: text })))
    },
    "experimental.chat.system.transform": async ({ sessionID }, { system }) => {
      if (system[0]?.startsWith("You are a title generator")) return
      for (const text of [briefs.get(sessionID), lessons.get(sessionID)]) if (text) system.push(text)
    },
    // From here on the brief says what the session did.
    "experimental.session.compacting": async ({ sessionID }) => {
      briefs.set(sessionID, await run("SessionStart", say(sessionID, { source: "compact" })))
    },
    "tool.execute.before": async ({ callID }) => {
      begun.set(callID, Date.now())
    },
    "tool.execute.after": async ({ tool, sessionID, callID, args }, output) => {
      const duration_ms = Date.now() - begun.get(callID)
      begun.delete(callID)
      const exit = output.metadata?.exit ?? 0
      const context = await run("PostToolUse", say(sessionID, { tool_name: tool, tool_input: args, duration_ms,
        tool_response: tool === "bash" ? { output: output.output, exit } : {} }))
      if (context) output.output += "\n\n" + context
    },
  }
}
