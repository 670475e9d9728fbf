import { type Html, html } from '../../platform/html.ts';
import type { JsonSchema } from './schemas.ts';

export interface Row {
  readonly name: string;
  readonly required: boolean;
  readonly description?: string | undefined;
  readonly schema: JsonSchema;
}

/** Fields as a table: name, form, meaning. */
export function tableOf(rows: readonly Row[]): Html {
  const lines = rows.map(
    ({ name, required, description = '', schema }) => html`<tr><td><code>${name}</code></td>
<td>${required ? html`<b>required</b>, ` : undefined}${formOf(schema)}</td><td>${prose(description)}</td></tr>`,
  );
  return html`<div class="table" tabindex="0"><table>
<thead><tr><th scope="col">Name</th><th scope="col">Form</th><th scope="col">Meaning</th></tr></thead>
<tbody>${lines}</tbody></table></div>`;
}

/** The form of a value, in a few words. */
function formOf(schema: JsonSchema): Html {
  if (Array.isArray(schema.enum)) return html`${join(schema.enum.map(String))}`;
  if (schema.const !== undefined) return html`<code>${String(schema.const)}</code>`;
  if (Array.isArray(schema.anyOf)) return html`${join(schema.anyOf.map(({ type }: JsonSchema) => String(type)))}`;
  const { type = 'string', format, minimum, maximum, minLength, maxLength, pattern } = schema;
  const bounds = minimum === undefined ? '' : `, ${minimum} ${maximum === undefined ? 'or more' : `to ${maximum}`}`;
  const length = maxLength === undefined ? '' : `, ${minLength ?? 0} to ${maxLength} characters`;
  const words = `${format ?? type}${bounds}${length}`;
  return pattern === undefined ? html`${words}` : html`${words}, <code>${String(pattern)}</code>`;
}

function join(words: readonly string[]): Html[] {
  return words.map((word, index) => html`${index > 0 ? ', ' : ''}<code>${word}</code>`);
}

/** Text with `code` in backquotes. */
export function prose(text: string): Html {
  const parts = text.split(/`([^`]+)`/);
  return html`${parts.map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : html`${part}`))}`;
}
