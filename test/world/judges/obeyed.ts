/** What clients that obey every answer were told, against the processor's ledger and our books. */
import assert from 'node:assert/strict';
import { Answer } from '../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import type { Entry } from '../../../services/sandbox/ledger/entry.ts';
import type { Deployment } from '../../torture/deployment/deployment.ts';
import type { Told } from '../merchants/intention.ts';
import type { Obedient } from '../merchants/obedient.ts';
import type { Scene } from '../play.ts';
import { readLedger } from './ledger.ts';

type Obeyed = Scene<Deployment, Obedient>;

/** So far, what was answered as done is done, and nothing twice, or against an answer; each answer is in the table. */
export async function obeyedSoFar({ stage, merchants: { client } }: Obeyed): Promise<string> {
  // What is told later than this may be done after the ledger was read.
  const told = [...client.told];
  const acted = await actsOf(stage);
  const wrong = [
    ...told.flatMap((each) => wronglyTold(each, acted.get(each.mark) ?? 0)),
    ...[...client.unexplained].map(([what, stories]) => `unexplained, ${stories.length} × ${what}: ${stories[0]}`),
  ];
  assert.equal(wrong.length, 0, [`${wrong.length} are wrong`, ...wrong.slice(0, EXAMPLES)].join('\n'));
  return `${told.length} intentions: none doubled, lost or unexplained`;
}

/**
 * Every intention has the outcome of the processor's ledger and of the books. The processor did nothing that nobody
 * wanted.
 */
export async function obeyed(scene: Obeyed): Promise<string> {
  const { stage, merchants } = scene;
  const { told, answers } = merchants.client;
  const counts = [...answers].sort().map(([what, count]) => `${String(count).padStart(7)} × ${what}`);
  assert(
    told.some(({ outcome }) => outcome === 'done'),
    'nothing was done, so nothing is shown',
  );
  const figures = await obeyedSoFar(scene);
  const wanted = new Set([...told.map(({ mark }) => mark), ...told.filter(isKept).map(keptMark)]);
  const unwanted = [...(await actsOf(stage)).keys()].filter((mark) => !wanted.has(mark));
  const rows = await stage.sql<Result>('select request_id, status, merchant_reference as reference from operation');
  const results = new Map(rows.map((row) => [row.request_id, row]));
  const wrong = [
    ...unwanted.map((mark) => `${mark}: at the processor, and nobody wanted it`),
    ...told.flatMap((each) => wronglyBooked(each, results)),
  ];
  assert.equal(wrong.length, 0, [...counts, `${wrong.length} are wrong`, ...wrong.slice(0, EXAMPLES)].join('\n'));
  return [...counts, figures].join('\n');
}

/**
 * Every request has reached the processor, but those of cards whose requests get lost: a process that is stopped finishes
 * what it has begun, and another one takes what comes after. Probes are not repeated.
 */
export async function sentOnce({ merchants: { client } }: Obeyed): Promise<string> {
  const told = client.told.filter(({ merchant }) => merchant.merchantId !== 'probe');
  const lossy = told.filter(({ body }) => /_(lost|error)"/.test(JSON.stringify(body)));
  const mayBeLost = new Set(lossy.map(({ mark }) => userOf(mark)));
  const unsent = told.filter(
    (each) =>
      each.outcome === 'not done' && !REFUSED.test(each.story.at(-1) ?? '') && !mayBeLost.has(userOf(each.mark)),
  );
  assert.deepEqual(
    unsent.map(({ mark, story }) => `${mark}: ${story.join('; ')}`),
    [],
  );
  return `${told.length} requests, each of which reached the processor`;
}

/** By the processor, or for what the merchant has under way. */
const REFUSED = / (CARD_DECLINED|CAPTURE_IN_FLIGHT) /;
const EXAMPLES = 16;

/** A result in our books. */
interface Result {
  readonly request_id: string;
  readonly status: string;
  readonly reference: string | null;
}

/** How often the processor did what has a mark. */
export async function actsOf({ ledgerFile, sql }: Deployment): Promise<ReadonlyMap<string, number>> {
  const rows = await sql<{ id: string }>(BY_THEMSELVES);
  const byThemselves = new Set(rows.map(({ id }) => id));
  const acted = new Map<string, number>();
  const { entries, firstOf } = readLedger(ledgerFile);
  for (const entry of entries) {
    if (entry.answer !== Answer.APPROVED) continue;
    const isOfKept = entry.renews !== '' || (entry.kind === 'void' && byThemselves.has(entry.requestId));
    const mark = isOfKept ? `kept ${firstOf(entry).userId}` : markOf(entry, firstOf(entry));
    acted.set(mark, (acted.get(mark) ?? 0) + 1);
  }
  return acted;
}

/** The voids that nobody asked for. */
const BY_THEMSELVES = `select coalesce(processor_request_id, request_id) as id from submission where kind = 'LATE_VOID'`;

/** What the processor did for a kept hold by itself has one mark. */
const keptMark = ({ mark }: Told) => `kept ${userOf(mark)}`;
export const isKept = ({ body }: Told) => 'keepUntil' in body;
export const userOf = (mark: string) => mark.split(' ')[1];

/** What is done with an authorization names its user, and what was held at first. */
function markOf({ kind, userId, amount }: Entry, first: Entry): string {
  if (kind === 'authorization' || kind === 'capture' || kind === 'credit') return `${kind} ${userId} ${amount}`;
  return `${kind} ${first.userId} ${kind === 'refund' ? amount : first.amount}`;
}

function wronglyTold({ outcome, mark, merchant, story }: Told, times: number): string[] {
  const [least, most] = BOUNDS[outcome];
  if (times >= least && times <= most) return [];
  return [
    `${times > most ? 'doubled' : 'lost'}, ${merchant.merchantId}: ${mark}: ${times} times at the processor; the client ` +
      `was told ${outcome}: ${story.join('; ')}`,
  ];
}

const BOUNDS = { done: [1, 1], 'not done': [0, 0], undecided: [0, 1] } as const;

function wronglyBooked(
  { outcome, requestId, mark, reference, story }: Told,
  results: ReadonlyMap<string, Result>,
): string[] {
  if (requestId === undefined || outcome === 'undecided') return [];
  const result = results.get(requestId);
  const isRight = reference === undefined || result?.reference === reference;
  if (result?.status === (outcome === 'done' ? 'OK' : 'KO') && isRight) return [];
  const found = [result?.status ?? 'nothing', result?.reference].join(' ');
  return [`${mark}: told ${outcome} and ${found} in the books: ${story.join('; ')}`];
}
