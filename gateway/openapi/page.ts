/** Renders the document as an HTML page. */
import { type Html, html } from '../../platform/html.ts';
import { PROBLEM_CODES, type ProblemCode, typeOf } from '../http/refusals.ts';
import { curlOf } from './curl.ts';
import { AUDIENCES, type Audience, EXAMPLES, type OpenApiDocument, ROUTES } from './document.ts';
import { introduction, lesson } from './introduction.ts';
import { layout } from './layout.ts';
import type { Named, Operation } from './operation.ts';
import { prose, tableOf } from './schema-table.ts';
import type { JsonSchema } from './schemas.ts';

interface Shown {
  readonly heading: string;
  readonly operation: Operation;
}

interface Part {
  readonly id: string;
  readonly name: string;
  readonly about: string;
  readonly rooms: readonly { readonly name: string; readonly description: string; readonly shown: readonly Shown[] }[];
}

export function pageOf(document: OpenApiDocument, audience: Audience): string {
  const { info, tags, webhooks } = document;
  const shown: Shown[] = [
    ...Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({
        heading: `${method.toUpperCase()} ${path}`,
        operation,
      })),
    ),
    ...Object.entries(webhooks).map(([name, { post }]) => ({ heading: `Webhook ${name}`, operation: post })),
  ];
  const rooms = tags.map((tag) => ({
    ...tag,
    shown: shown.filter(({ operation }) => operation.tags.includes(tag.name)),
  }));
  const parts = PARTS.map((part) => ({ ...part, rooms: rooms.filter(({ name }) => part.has(name)) })).filter(
    ({ rooms }) => rooms.length > 0,
  );
  return layout({
    path: AUDIENCES[audience].page,
    title: `${info.title}: API ${info.version}`,
    articles: 'routes',
    contents: html`<ul>${BEGINNINGS.map(([id, name]) => html`<li><a href="#${id}">${name}</a></li>`)}</ul>
${parts.map(contents)}`,
    summary: html`${info.summary}. <a href="${AUDIENCES[audience].json}">OpenAPI 3.1 document</a>`,
    main: html`${lesson()}${introduction(audience)}<p>${prose(info.description)}</p>
${parts.map((part) => chapter(part, document))}`,
  });
}

const PARTS = [
  {
    id: 'merchants',
    name: 'For merchants',
    about: "What a merchant's backend calls with its API key, and what it receives.",
    has: (tag: string) => !tag.startsWith('Operators') && tag !== 'Service',
  },
  {
    id: 'operators',
    name: 'For operators',
    about: 'What those who run Holdfast call, with the operator token or a console session.',
    has: (tag: string) => tag.startsWith('Operators'),
  },
  {
    id: 'service',
    name: 'For those who watch it',
    about: 'Whether it runs; no credential is needed.',
    has: (tag: string) => tag === 'Service',
  },
];

const BEGINNINGS = [
  ['lesson', 'Your first hold'],
  ['authentication', 'Authentication'],
  ['amounts', 'Amounts'],
  ['repeating', 'Repeating a request'],
  ['request-id', 'Asking for help'],
  ['guides', 'Guides'],
] as const;

/** A part in the side bar. */
function contents({ id, name, rooms }: Part): Html {
  const sections = rooms.map(
    (room) => html`<section data-tag="${room.name}"><h3>${room.name}</h3><ul>${room.shown.map(link)}</ul></section>`,
  );
  return html`<h2><a href="#${id}">${name}</a></h2>${sections}`;
}

function link({ heading, operation }: Shown): Html {
  return html`<li><a href="#${operation.operationId}">${operation.summary}<code>${heading}</code></a></li>`;
}

/** A part in the page. */
function chapter({ id, name, about, rooms }: Part, document: OpenApiDocument): Html {
  const sections = rooms.map(
    (room) => html`<section data-tag="${room.name}"><h3>${room.name}</h3><p>${room.description}.</p>
${room.shown.map((one) => section(one, document))}</section>`,
  );
  return html`<div id="${id}"><h2>${name}</h2><p>${about}</p>${sections}</div>`;
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
  const inputs = parameters.map((parameter) => ({ ...parameter, name: `${parameter.name} (${parameter.in})` }));
  const refused = codes.map(([status, { description: names }]) => html`<li>${status}: ${linked(names)}</li>`);
  return html`<article id="${operationId}"><h4>${summary}</h4>
<p class="route"><a href="#${operationId}"><code>${heading}</code></a></p>
<p>${prose(description)}</p>
${sample(operationId)}
${inputs.length === 0 ? undefined : html`<h5>Parameters</h5>${tableOf(inputs)}`}
${
  body &&
  html`<h5>Body</h5>${fields(body.schema, document)}
<details><summary>Examples</summary>${examples(body.examples)}</details>`
}
${answers.map(([status, { description: what, content = {} }]) => {
  const [found] = Object.values(content);
  const details =
    found &&
    html`<details><summary>Fields and examples</summary>
${fields(found.schema, document)}${examples(found.examples)}</details>`;
  return html`<h5>${status}: ${prose(what)}</h5>${details}`;
})}
${refused.length === 0 ? undefined : html`<h5>Refusals</h5><ul>${refused}</ul>`}</article>`;
}

/** A command, and what it is answered: the first example of a route. A webhook has none. */
function sample(operationId: string): Html | undefined {
  const route = ROUTES[operationId];
  const example = EXAMPLES.find((one) => one.route === operationId);
  if (!route || !example) return undefined;
  const { status, answer } = example;
  return html`<pre tabindex="0" class="curl">${curlOf(route, example)}</pre>
<p>is answered ${status}${answer === undefined ? '.' : ':'}</p>
${answer === undefined ? undefined : html`<pre tabindex="0">${shownValue(answer)}</pre>`}`;
}

function shownValue(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value, null, 2);
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

function examples(named: Named = {}): Html {
  const shown = Object.values(named).map(
    ({ summary, value }) => html`<p>${summary}:</p><pre tabindex="0">${shownValue(value)}</pre>`,
  );
  return html`${shown}`;
}

const CODE = new RegExp(`\\b(${PROBLEM_CODES.join('|')})\\b`);

/** A description with its codes as links to what they mean. */
function linked(text: string): Html {
  const parts = text.split(CODE);
  return html`${parts.map((part, index) =>
    index % 2 === 1 ? html`<a href="${typeOf(part as ProblemCode)}"><code>${part}</code></a>` : prose(part),
  )}`;
}

function resolve(schema: JsonSchema, { components }: OpenApiDocument): JsonSchema {
  const name = /^#\/components\/schemas\/(.+)$/.exec(String(schema.$ref ?? ''))?.[1];
  return name === undefined ? schema : (components.schemas[name] ?? schema);
}

function text({ description }: JsonSchema): string | undefined {
  return typeof description === 'string' ? description : undefined;
}
