/** Splits Markdown documents into sentences. */

/**
 * Returns table rows, headings, list items and the sentences of paragraphs, in order and with white space normalised, without code blocks
 * and comments.
 */
export function sentencesOf(markdown: string): string[] {
  const blocks = proseOf(markdown)
    .replace(/^(\||#+ ).*$/gm, '\n$&\n')
    .replace(/^\s*(?:[-*]|\d+\.) /gm, '\n\n')
    .split(/\n\s*\n/)
    .map(normalise);
  return blocks
    .flatMap((block) => (block.startsWith('|') ? block : block.split(/(?<=[.!?](?:\*\*|\)|")?) /)))
    .filter((sentence) => sentence !== '');
}

/** Returns a document without its code blocks and comments. */
export function proseOf(markdown: string): string {
  return markdown.replace(/^```[\s\S]*?^```$/gm, '\n').replace(/<!--[\s\S]*?-->/g, '\n');
}

export function normalise(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}
