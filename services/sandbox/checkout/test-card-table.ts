import { type Html, html } from './html.ts';
import { groupInFours, TEST_CARDS, type TestCard } from './test-card.ts';
import type { Words } from './words/words.ts';

/** The cards that the sandbox takes, and what each does. */
export function testCardTable({ testCards }: Words): Html {
  const rows = TEST_CARDS.map(
    (card) => html`<tr><td class="number">${groupInFours(card.number)}</td><td>${effectOf(card, testCards)}</td></tr>`,
  );
  return html`<details>
        <summary>${testCards.title}</summary>
        <p class="quiet">${testCards.hint}</p>
        <div class="scroll" tabindex="0" role="region" aria-label="${testCards.title}"><table>
          <thead><tr><th scope="col">${testCards.number}</th><th scope="col">${testCards.effect}</th></tr></thead>
          <tbody>${rows}</tbody>
        </table></div>
      </details>`;
}

function effectOf({ behaviour, brand, challenged }: TestCard, words: Words['testCards']): string {
  if (challenged) return words.challenge;
  const effect = words.effects[behaviour];
  if (behaviour !== 'ok') return effect;
  const name = brand.replace(/^./, (first) => first.toUpperCase());
  return brand === 'amex' ? `${effect} (${name}, ${words.fourDigitCode})` : `${effect} (${name})`;
}
