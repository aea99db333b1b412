// OpenAI's SDK for Node.
import OpenAI from "openai";
import { BASE_URL, MODEL, SCHEMA, lookUp, run } from "./scenes.mjs";

const client = new OpenAI({ baseURL: BASE_URL, apiKey: "none", maxRetries: 0 });
const turn = (prompt) => [{ role: "user", content: prompt }];
const LOOK_UP = {
  type: "function",
  function: { name: "look_up", description: "Look up a contact by its address.", parameters: SCHEMA },
};

async function ask(prompt, model) {
  const made = await client.chat.completions.create({ model, messages: turn(prompt) });
  return made.choices[0].message.content;
}

async function stream(prompt) {
  const pieces = [];
  let usage = null;
  const steps = await client.chat.completions.create({
    model: MODEL,
    messages: turn(prompt),
    stream: true,
    stream_options: { include_usage: true },
  });
  for await (const step of steps) {
    for (const choice of step.choices) if (choice.delta.content) pieces.push(choice.delta.content);
    usage = step.usage ?? usage;
  }
  return { pieces: pieces.length, text: pieces.join(""), usage };
}

async function tools(prompt) {
  const messages = turn(prompt);
  const asked = { model: MODEL, messages, tools: [LOOK_UP] };
  const { message } = (await client.chat.completions.create(asked)).choices[0];
  const [call] = message.tool_calls;
  const given = JSON.parse(call.function.arguments);
  messages.push(message, { role: "tool", tool_call_id: call.id, content: lookUp(given) });
  const made = await client.chat.completions.create(asked);
  return { arguments: given, text: made.choices[0].message.content };
}

async function structured(prompt) {
  const made = await client.chat.completions.parse({
    model: MODEL,
    messages: turn(prompt),
    response_format: {
      type: "json_schema",
      json_schema: { name: "contact", schema: SCHEMA, strict: true },
    },
  });
  return { value: JSON.parse(made.choices[0].message.content) };
}

async function responses(prompt) {
  const whole = await client.responses.create({ model: MODEL, input: prompt });
  const pieces = [];
  const events = client.responses.stream({ model: MODEL, input: prompt });
  for await (const event of events) {
    if (event.type === "response.output_text.delta") pieces.push(event.delta);
  }
  const final = await events.finalResponse();
  return { pieces: pieces.length, text: whole.output_text + final.output_text };
}

async function completions(prompt) {
  const made = await client.completions.create({ model: MODEL, prompt });
  return { text: made.choices[0].text };
}

await run("openai", ask, { stream, tools, structured, responses, completions });
