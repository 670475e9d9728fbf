/** The statements that every operation makes, as text that can be read and pasted into psql. */
import { HOT_STATEMENTS } from '../services/core/storage/hot-statements.ts';
import type { Generated } from './generated.ts';

const HEADER = `-- The statements that every operation makes, in their order, for review: written by npm run generate.
-- In psql: prepare each as it stands, or explain (generic_plan) it.
`;

export const STATEMENTS: Generated = [
  'services/core/statements.sql',
  () => `${HEADER}${HOT_STATEMENTS.map(({ name, text }) => `\n-- ${name}\n${text};\n`).join('')}`,
];
