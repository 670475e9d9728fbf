/**
 * What the pages at /docs share: contents beside the text, one style sheet and one script, both inline, nothing loaded.
 * The script searches articles and copies samples.
 */
import { readFileSync } from 'node:fs';
import { Html, html } from '../../platform/html.ts';
import { REFUSALS_PATH } from '../http/refusals.ts';
import { AUDIENCES } from './document.ts';

export const STYLE = readFileSync(new URL('./style.css', import.meta.url), 'utf8');
export const SCRIPT = readFileSync(new URL('./page.js', import.meta.url), 'utf8');

/** The pages, which all lead to each other. */
const PAGES = [
  ...Object.values(AUDIENCES).map(({ page, choice }) => [page, choice] as const),
  [REFUSALS_PATH, 'Refusals'] as const,
];

interface Layout {
  /** The path of the page. */
  readonly path: string;
  readonly title: string;
  /** What an article of the page is about, in the plural. */
  readonly articles: string;
  readonly contents: Html;
  readonly summary: Html;
  readonly main: Html;
}

const CURRENT = html` aria-current="page"`;

export function layout({ path, title, articles, contents, summary, main }: Layout): string {
  return html`<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title><style>${new Html(STYLE)}</style></head>
<body>
<a class="skip" href="#content">Skip to the content</a>
<nav aria-label="Contents">
<div role="search" hidden>
<label for="find">Search the ${articles}</label>
<input type="search" id="find" autocomplete="off"> <output id="found" for="find" data-of="${articles}"></output>
</div>
<ul>${PAGES.map(([to, name]) => html`<li><a href="${to}"${to === path ? CURRENT : undefined}>${name}</a></li>`)}</ul>
${contents}</nav>
<div class="page" id="content">
<header><h1>${title}</h1>
<p>${summary}</p></header>
<main>${main}</main></div>
<script>${new Html(SCRIPT)}</script>
</body></html>
`.text;
}
