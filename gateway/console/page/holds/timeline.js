import { Attempts } from '../deliveries/attempts.js';
import { html } from '../shell/html.js';
import { linkTo } from '../shell/route.js';
import { Time } from '../words/time.js';
import { Badge } from '../words/words.js';
import { eventsOf } from './events.js';

/** What happened to a hold, in order: requests, results, and each notification with its delivery attempts. */
export function Timeline({ hold }) {
  return html`<ol class="timeline">
    ${eventsOf(hold).map(
      ({ at, title, word, detail, delivery }) => html`<li class=${delivery ? 'delivery' : ''}>
        <p class="headline">
          <${Time} at=${at} />
          <span class="title">${delivery ? html`<a href=${linkTo(['deliveries', delivery.deliveryId])}>${title}</a>` : title}</span>
          ${word && html`<${Badge} word=${word} />`}
        </p>
        ${detail && html`<p class="quiet">${detail}</p>`}
        ${delivery?.attempts && html`<${Attempts} attempts=${delivery.attempts} />`}
      </li>`,
    )}
  </ol>`;
}
