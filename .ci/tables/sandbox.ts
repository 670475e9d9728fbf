import { BEHAVIOURS } from '../../services/sandbox/behaviour.ts';
import { effectOf } from '../../services/sandbox/checkout/form-page.ts';
import { groupInFours, TEST_CARDS } from '../../services/sandbox/checkout/test-card.ts';
import type { Table } from './table.ts';

/** The tokens of the sandbox and what each does. */
export function tokensTable(): Table {
  const rows = Object.entries(BEHAVIOURS).map(([name, { about }]) => [`\`tok_sandbox_${name}\``, about]);
  return [['Token', 'What happens'], ...rows];
}

/** The cards that the checkout page takes. */
export function cardsTable(): Table {
  return [['Test card', 'What happens'], ...TEST_CARDS.map((card) => [groupInFours(card.number), effectOf(card)])];
}
