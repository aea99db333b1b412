// Run the scenes that the command line names, and print what each saw: `scenes.py` for Node.
import { readFileSync } from "node:fs";

export const BASE_URL = process.argv[2];
export const MODEL = "gpt-4o";
const FAILING = ["no-such-model", "broken"]; // not served; refused by the remote

export const SCHEMA = {
  type: "object",
  properties: { address: { type: "string" }, priority: { type: "integer" } },
  required: ["address", "priority"],
  additionalProperties: false,
};
export const lookUp = ({ address, priority }) => `${address} is known with priority ${priority}.`;

function describe(error) {
  const told = [];
  for (let each = error; each; each = each.cause ?? each.lastError) told.push(`${each.message}`);
  const status = error.status ?? error.statusCode ?? null;
  return { type: error.constructor.name, status, told: told.join("\n") };
}

export async function run(packageName, ask, scenes) {
  const fail = async (prompt) => {
    const found = {};
    for (const model of FAILING) {
      try {
        found[model] = { answered: await ask(prompt, model) };
      } catch (error) {
        found[model] = describe(error);
      }
    }
    return found;
  };
  const known = { chat: async (prompt) => ({ text: await ask(prompt, MODEL) }), errors: fail, ...scenes };
  const manifest = new URL(`node_modules/${packageName}/package.json`, import.meta.url);
  const out = { version: JSON.parse(readFileSync(manifest, "utf8")).version };
  for (const [name, prompt] of Object.entries(JSON.parse(process.argv[3]))) {
    try {
      out[name] = await known[name](prompt);
    } catch (error) {
      console.error(error);
      out[name] = { failed: describe(error) };
    }
  }
  console.log("\n" + JSON.stringify(out));
}
