/** Tables of the documents that repeat the code. */
import { Code } from '@connectrpc/connect';
import { PROBLEM_CODES, type ProblemCode, statusOf } from '../gateway/http/problem.ts';
import { ErrorReason } from '../proto/gen/holdfast/v1/error_pb.js';
import { KIND_NAMES, OPERATION_KINDS, SENT_KINDS, type StatusInfo } from '../services/core/domain/kinds.ts';
import { statusOf as statusOfWord } from '../services/core/domain/outcome.ts';
import { HoldfastError, type RefusalCode } from '../services/core/domain/refusal.ts';
import { translateError } from '../services/core/rpc/server/translate-error.ts';
import { BEHAVIOURS } from '../services/sandbox/behaviour.ts';
import { effectOf } from '../services/sandbox/checkout/form-page.ts';
import { groupInFours, TEST_CARDS } from '../services/sandbox/checkout/test-card.ts';
import { ROOMS } from './core-rooms.ts';
import type { Generated, Table } from './generated.ts';
import { limitsTable } from './tables/limits.ts';
import { settingsTable } from './tables/settings.ts';

export const TABLES: readonly Generated[] = [
  tableIn('docs/architecture.md', 'rooms', roomsTable),
  tableIn('docs/interfaces.md', 'refusals', refusalsTable),
  tableIn('docs/limits.md', 'limits', limitsTable),
  tableIn('docs/notifications.md', 'notifications', notificationsTable),
  tableIn('docs/sandbox.md', 'tokens', tokensTable),
  tableIn('docs/sandbox.md', 'cards', cardsTable),
  tableIn('docs/settings.md', 'settings', settingsTable),
];

/** A table by the document and the name in its mark, `<!-- generated: NAME -->`. A blank line ends it. */
function tableIn(file: string, name: string, make: () => Table): Generated {
  return [file, (is) => replaced(is, file, name, make())];
}

function replaced(text: string, file: string, name: string, [header = [], ...rows]: Table): string {
  const [start, rest, ...more] = text.split(`<!-- generated: ${name} -->\n`);
  if (rest === undefined || more.length > 0) throw new Error(`${file} has no mark, or several, of the table ${name}`);
  const lines = [header, ...rows].map((cells) => `| ${cells.join(' | ')} |`);
  lines.splice(1, 0, `|${'---|'.repeat(header.length)}`);
  const end = rest.search(/^(?!\|)(?!\n\|)/m);
  return `${start}<!-- generated: ${name} -->\n\n${lines.join('\n')}\n${rest.slice(end)}`;
}

/** The words of notifications, with their status and the operations that they are about. */
function notificationsTable(): Table {
  const rows = new Map<string, string[]>();
  const add = (notification: string, word: StatusInfo, kind: string) => {
    const key = `${notification} \`${word}\` | ${statusOfWord(word)}`;
    rows.set(key, [...(rows.get(key) ?? []), kind]);
  };
  for (const kind of KIND_NAMES) {
    const { notification, successWord } = OPERATION_KINDS[kind];
    add(notification, successWord, kind);
    if (SENT_KINDS.some((sent) => sent === kind))
      for (const word of ['declined', 'failed'] as const) add(notification, word, kind);
  }
  const cells = [...rows].map(([key, kinds]) => [...key.split(' | '), kinds.map((kind) => `\`${kind}\``).join(', ')]);
  return [['kind, statusInfo', 'status', 'operation'], ...cells];
}

/** Every refusal by its HTTP status, with its status in gRPC. */
function refusalsTable(): Table {
  const codes = new Map<string, string[]>();
  for (const code of PROBLEM_CODES.toSorted((one, other) => statusOf(one) - statusOf(other))) {
    const status = `${statusOf(code)} | ${grpcOf(code)}`;
    codes.set(status, [...(codes.get(status) ?? []), `\`${code}\``]);
  }
  const rows = [...codes].map(([status, names]) => [names.join(', '), ...status.split(' | ')]);
  return [['code', 'HTTP', 'gRPC'], ...rows];
}

/** The status in gRPC's spelling; refusals that are no reason of the contract are HTTP's alone. */
function grpcOf(code: ProblemCode): string {
  if (!(code in ErrorReason)) return 'HTTP only';
  const name = Code[translateError(new HoldfastError(code as RefusalCode, '')).code] ?? '';
  return name.replace(/(?<=[a-z])(?=[A-Z])/g, '_').toUpperCase();
}

/** The rooms of core, with what each may import of it. */
function roomsTable(): Table {
  const rows = Object.entries(ROOMS).map(([room, { holds, imports }]) => {
    const rooms = imports.split(' ').filter((name) => name !== '');
    return [`\`${room}/\``, holds, rooms.map((name) => `\`${name}/\``).join(', ') || 'nothing'];
  });
  return [['Room', 'What is in it', 'Imports of core'], ...rows];
}

/** The tokens of the sandbox and what each does. */
function tokensTable(): Table {
  const rows = Object.entries(BEHAVIOURS).map(([name, { about }]) => [`\`tok_sandbox_${name}\``, about]);
  return [['Token', 'What happens'], ...rows];
}

/** The cards that the checkout page takes. */
function cardsTable(): Table {
  return [['Test card', 'What happens'], ...TEST_CARDS.map((card) => [groupInFours(card.number), effectOf(card)])];
}
