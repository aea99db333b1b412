// Vercel's AI SDK with an OpenAI-compatible provider.
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { Output, generateText, jsonSchema, stepCountIs, streamText, tool } from "ai";
import { BASE_URL, MODEL, SCHEMA, lookUp, run } from "./scenes.mjs";

const provider = createOpenAICompatible({
  name: "private",
  baseURL: BASE_URL,
  apiKey: "none",
  includeUsage: true,
  supportsStructuredOutputs: true,
});
const how = (prompt, model = MODEL) => ({ model: provider(model), prompt, maxRetries: 0 });

const ask = async (prompt, model) => (await generateText(how(prompt, model))).text;

async function stream(prompt) {
  const pieces = [];
  const made = streamText(how(prompt));
  for await (const piece of made.textStream) pieces.push(piece);
  const usage = await made.usage;
  return { pieces: pieces.length, text: pieces.join(""), usage: { total_tokens: usage.totalTokens } };
}

async function tools(prompt) {
  const given = [];
  const look_up = tool({
    description: "Look up a contact by its address.",
    inputSchema: jsonSchema(SCHEMA),
    execute: async (input) => {
      given.push(input);
      return lookUp(input);
    },
  });
  const made = await generateText({ ...how(prompt), tools: { look_up }, stopWhen: stepCountIs(3) });
  return { arguments: given[0], text: made.text };
}

async function structured(prompt) {
  const output = Output.object({ schema: jsonSchema(SCHEMA) });
  return { value: (await generateText({ ...how(prompt), output })).output };
}

async function completions(prompt) {
  const model = provider.completionModel(MODEL);
  return { text: (await generateText({ ...how(prompt), model })).text };
}

await run("ai", ask, { stream, tools, structured, completions });
