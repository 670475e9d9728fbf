/** GET /docs/refusals: what each refusal means and what to do about it, under its code as the anchor. */
import { type Html, html } from '../../platform/html.ts';
import { PROBLEM_CODES, type ProblemCode, REFUSALS, REFUSALS_PATH } from '../http/refusals.ts';
import { REPEATS } from '../http/repeats.ts';
import { layout } from './layout.ts';
import { PROBLEM_EXAMPLES } from './problems.ts';
import { prose } from './schema-table.ts';

export function refusalsPage(): string {
  const codes = PROBLEM_CODES.toSorted((one, other) => REFUSALS[one].status - REFUSALS[other].status);
  const byStatus = [...Map.groupBy(codes, (code) => REFUSALS[code].status)];
  const contents = byStatus.map(
    ([status, alike]) => html`<section data-tag="${status}"><h3>${status}</h3><ul>${alike.map(link)}</ul></section>`,
  );
  const main = byStatus.map(
    ([status, alike]) => html`<section data-tag="${status}"><h2>${status}</h2>${alike.map(article)}</section>`,
  );
  return layout({
    path: REFUSALS_PATH,
    title: 'Holdfast: refusals',
    articles: 'refusals',
    contents: html`${contents}`,
    summary: html`Each is <code>application/problem+json</code> (RFC 9457). Programs go by its <code>code</code>, and by
the HTTP status where they do not know it; its <code>detail</code> is for people.`,
    main: html`${main}`,
  });
}

function link(code: ProblemCode): Html {
  return html`<li><a href="#${code}">${REFUSALS[code].title}<code>${code}</code></a></li>`;
}

function article(code: ProblemCode): Html {
  const { title, meaning, remedy, repeat } = REFUSALS[code];
  const { name, about } = REPEATS[repeat];
  return html`<article id="${code}"><h3><a href="#${code}"><code>${code}</code></a></h3>
<p><b>${title}.</b> ${prose(meaning)}</p>
<dl><dt>What to do</dt><dd>${prose(remedy)}</dd>
<dt>Repeat it: ${name}</dt><dd>${prose(about)}</dd></dl>
<details><summary>Example</summary><pre tabindex="0">${JSON.stringify(PROBLEM_EXAMPLES[code], null, 2)}</pre></details>
</article>`;
}
