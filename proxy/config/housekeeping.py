"""List the default patterns for the housekeeping prompts of chat clients."""

from __future__ import annotations

__all__ = ["NOTES", "SHIPPED"]

# The default prompts of Open WebUI and of LibreChat. Open WebUI rewords its tasks from version to
# version but keeps one form, which the first pattern matches: a task, and the conversation at the
# end. Its prompt for answers from documents also begins with "### Task:" and must not match. The
# other patterns match a task by its words, also without the conversation.
NOTES = {
    r"### Task:\s[\s\S]+</chat_history>\Z": "Open WebUI: any task with the conversation at its "
    "end",
    r"### Task:\s+Generate a concise[^\n]{0,40} title": "titles",
    r"### Task:\s+Generate [^\n]{0,20}tags categorizing": "tags",
    r"### Task:\s+Suggest [^\n]{0,20}follow-up questions": "follow-up questions, up to 0.9",
    r"### Task:\s+Predict [^\n]{0,20}messages this user might": "follow-up questions",
    r"### Task:\s+You are an autocompletion system\.": "autocomplete",
    r"### Task:\s+Analyze the chat history to determine the necessity of generating search": (
        "search queries"
    ),
    r"### Task:\s+Generate a detailed prompt for a[mn] image generation task": (
        "prompts for images"
    ),
    r"### Task:\s+Summarize the conversation history that will be compacted": (
        "summaries of long conversations"
    ),
    r"Your task is to reflect the speaker's likely facial expression through a fitting emoji\.": (
        "the emoji of a call"
    ),
    r"(Please generate|Provide) a concise, 5-word-or-less title for the conversation": (
        "LibreChat: titles"
    ),
    r"Please generate a concise title \(max \d+ characters\) for a conversation": (
        "titles, assistants"
    ),
    r"Analyze this conversation and provide:\s+1\. The detected language of the conversation": (
        "titles, structured"
    ),
    r"Detect user language and write in the same language an extremely concise title": (
        "titles, oldest"
    ),
    r"In this environment you have access to a set of tools you can use to generate the": (
        "titles, by tool"
    ),
    r"Summarize the conversation by integrating new lines into the current summary": (
        "summaries of long conversations"
    ),
}
SHIPPED = tuple(NOTES)
