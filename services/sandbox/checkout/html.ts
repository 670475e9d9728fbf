/** Markup that may stand in a page as it is. */
export interface Html {
  readonly markup: string;
}

type Part = string | number | Html | readonly Html[];

/** Builds markup from a template; whatever text is put into it is escaped. */
export function html(literals: TemplateStringsArray, ...parts: readonly Part[]): Html {
  return { markup: String.raw({ raw: literals }, ...parts.map(markupOf)) };
}

function markupOf(part: Part): string {
  if (typeof part === 'string' || typeof part === 'number') return escaped(String(part));
  return 'markup' in part ? part.markup : part.map((one) => one.markup).join('');
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
