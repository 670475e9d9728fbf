/** The document as a page for people: no script, one style sheet, nothing from elsewhere. */
import { readFileSync } from 'node:fs';
import type { OpenApiDocument } from './document.ts';
import { Html, html, prose } from './html.ts';
import { tableOf } from './schema-table.ts';
import type { JsonSchema } from './schemas.ts';

export const STYLE = readFileSync(new URL('./style.css', import.meta.url), 'utf8');

interface Content {
  readonly [mediaType: string]: { readonly schema: JsonSchema; readonly examples?: Readonly<Record<string, Named>> };
}

interface Named {
  readonly summary: string;
  readonly value?: unknown;
}

interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly tags: readonly string[];
  readonly parameters?: readonly {
    name: string;
    in: string;
    required: boolean;
    description?: string;
    schema: JsonSchema;
  }[];
  readonly requestBody?: { readonly content: Content };
  readonly responses: Readonly<Record<string, { readonly description: string; readonly content?: Content }>>;
}

interface Shown {
  readonly heading: string;
  readonly operation: Operation;
}

/** The whole page. */
export function pageOf(document: OpenApiDocument): string {
  const { info, tags, webhooks } = document as unknown as {
    info: { title: string; version: string; summary: string; description: string };
    tags: { name: string; description: string }[];
    webhooks: Record<string, { post: Operation }>;
  };
  const shown: Shown[] = [
    ...Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({
        heading: `${method.toUpperCase()} ${path}`,
        operation: operation as unknown as Operation,
      })),
    ),
    ...Object.entries(webhooks).map(([name, { post }]) => ({ heading: `Webhook ${name}`, operation: post })),
  ];
  const rooms = tags.map((tag) => ({
    ...tag,
    shown: shown.filter(({ operation }) => operation.tags.includes(tag.name)),
  }));
  const links = shown.map(
    ({ heading, operation }) => html`<li><a href="#${operation.operationId}"><code>${heading}</code></a></li>`,
  );
  return html`<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${info.title} API</title><style>${new Html(STYLE)}</style></head>
<body>
<header><h1>${info.title} API ${info.version}</h1><p>${info.summary}. <a href="/openapi.json">OpenAPI 3.1 document</a></p><p>${prose(info.description)}</p></header>
<nav aria-label="Routes"><ul>${links}<li><a href="#refusals">Refusals</a></li></ul></nav>
<main>${rooms.map((room) => html`<section><h2>${room.name}</h2><p>${room.description}.</p>${room.shown.map((one) => section(one, document))}</section>`)}
${refusals(document)}</main>
</body></html>
`.text;
}

function section({ heading, operation }: Shown, document: OpenApiDocument): Html {
  const { operationId, summary, description, parameters = [], requestBody, responses } = operation;
  const body = requestBody?.content['application/json'];
  const answers = Object.entries(responses).filter(
    ([status]) => !/^[45]/.test(status) || operation.tags.includes('Notifications'),
  );
  const codes = Object.entries(responses).filter(
    ([status, { content }]) => /^[45]/.test(status) && content !== undefined,
  );
  return html`<article id="${operationId}"><h3>${summary}</h3><p class="route"><code>${heading}</code></p>
${description === undefined ? undefined : html`<p>${prose(description)}</p>`}
${parameters.length === 0 ? undefined : html`<h4>Parameters</h4>${tableOf(parameters.map((parameter) => ({ ...parameter, name: `${parameter.name} (${parameter.in})` })))}`}
${body && html`<h4>Body</h4>${fields(body.schema, document)}${examples(body.examples)}`}
${answers.map(([status, { description: what, content = {} }]) => {
  const [found] = Object.values(content);
  return html`<h4>${status}: ${prose(what)}</h4>${found && html`<details><summary>Fields and examples</summary>${fields(found.schema, document)}${examples(found.examples)}</details>`}`;
})}
${codes.length === 0 ? undefined : html`<h4>Refusals</h4><ul>${codes.map(([status, { description: names }]) => html`<li>${status}: ${prose(names)}</li>`)}</ul>`}</article>`;
}

/** The fields of an object, or of each object that it may be. */
function fields(schema: JsonSchema, document: OpenApiDocument): Html {
  const target = resolve(schema, document);
  if (Array.isArray(target.anyOf)) return html`${target.anyOf.map((one: JsonSchema) => fields(one, document))}`;
  const {
    properties,
    required = [],
    description,
  } = target as { properties?: Record<string, JsonSchema>; required?: string[]; description?: string };
  if (properties === undefined) return html`<p>${description ?? String(target.type ?? '')}</p>`;
  const rows = Object.entries(properties).map(([name, property]) => {
    const resolved = resolve(property, document);
    return { name, required: required.includes(name), description: text(property) ?? text(resolved), schema: resolved };
  });
  return html`${description === undefined ? undefined : html`<p>${prose(description)}.</p>`}${tableOf(rows)}`;
}

function examples(named: Readonly<Record<string, Named>> = {}): Html {
  const shown = Object.values(named).map(
    ({ summary, value }) =>
      html`<p>${summary}:</p><pre tabindex="0">${typeof value === 'string' ? value : JSON.stringify(value, null, 2)}</pre>`,
  );
  return html`${shown}`;
}

function refusals({ components }: OpenApiDocument): Html {
  const codes = Object.entries(components.examples as Record<string, Named>);
  return html`<section id="refusals"><h2>Refusals</h2><p>Each is <code>application/problem+json</code> (RFC 9457).</p>
${codes.map(([code, { value }]) => html`<details><summary><code>${code}</code></summary><pre tabindex="0">${JSON.stringify(value, null, 2)}</pre></details>`)}</section>`;
}

function resolve(schema: JsonSchema, { components }: OpenApiDocument): JsonSchema {
  const name = /^#\/components\/schemas\/(.+)$/.exec(String(schema.$ref ?? ''))?.[1];
  return name === undefined ? schema : (components.schemas[name] ?? schema);
}

function text({ description }: JsonSchema): string | undefined {
  return typeof description === 'string' ? description : undefined;
}
