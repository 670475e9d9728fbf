/** Sends the deliveries to a receiver, and judges it by its answers alone. */
import { Agent } from 'node:http';
import { Agent as TlsAgent } from 'node:https';
import type { Delivery, Grade } from './delivery.ts';
import { createSample, type Sent } from './sample.ts';
import { type Answer, type Line, send } from './send.ts';

/** Whom to check. */
export interface Target extends Pick<Line, 'url' | 'ca' | 'signal' | 'attemptMs'> {
  readonly secret: string;
  readonly merchantId: string;
}

/** A delivery, and what became of it. */
export interface Checked {
  readonly delivery: Pick<Delivery, 'name' | 'sends' | 'mend' | 'read'>;
  readonly requests: readonly Sent[];
  /** In the order of the requests. */
  readonly answers: readonly Answer[];
  readonly failure?: Failure;
}

/** Why a delivery failed, and the worst grade that the receiver can have then. */
export interface Failure {
  readonly grade: Grade;
  readonly what: string;
  /** Instead of what the delivery says. */
  readonly mend?: string;
}

/** After this time nothing more is sent. */
const WITHIN_MS = 120_000;

/**
 * Sends each delivery after the one before, and yields it with its answers. Ends after the first when that fails, since
 * a receiver that refuses everything refuses forgeries, too.
 */
export async function* check(target: Target, deliveries: readonly Delivery[]): AsyncGenerator<Checked, void> {
  const endMs = performance.now() + WITHIN_MS;
  const sample = createSample(target.merchantId, target.secret);
  for (const delivery of deliveries) {
    if (performance.now() > endMs) {
      const what = `not sent: ${WITHIN_MS / 1_000} s are over, since the receiver answers too slowly`;
      yield { delivery, requests: [], answers: [], failure: { grade: 'D', what } };
      continue;
    }
    const requests = delivery.requests(sample);
    const answers = await sendAll(target, delivery, requests);
    if (target.signal.aborted) return;
    const failure = worst(requests.map((sent, index) => judge(sent, answers[index] ?? {}, delivery)));
    yield { delivery, requests, answers, ...(failure && { failure }) };
    if (failure?.grade === 'E') return;
  }
}

async function sendAll(target: Target, delivery: Delivery, requests: readonly Sent[]): Promise<Answer[]> {
  const AgentOf = target.url.startsWith('https:') ? TlsAgent : Agent;
  const agent = delivery.isOneConnection ? new AgentOf({ keepAlive: true, maxSockets: 1 }) : false;
  const line: Line = { ...target, agent };
  try {
    if (delivery.isAtOnce) return await Promise.all(requests.map((sent) => send(line, sent)));
    const answers: Answer[] = [];
    for (const sent of requests) answers.push(await send(line, sent));
    return answers;
  } finally {
    if (agent) agent.destroy();
  }
}

/** Returns what is wrong with an answer; undefined = nothing. */
function judge({ must }: Sent, answer: Answer, { grade, mend }: Delivery): Failure | undefined {
  const { status = 0, error = '' } = answer;
  const isAccepted = status >= 200 && status < 300;
  const isRefused = status >= 400 && status < 500;
  const isClosed = /^(ECONNRESET|EPIPE)$/.test(error);
  const what = `${said(answer)} instead of ${WANTED[must]}`;
  switch (must) {
    case 'nothing':
      return undefined;
    case 'accept':
      if (isAccepted) return undefined;
      return { grade: grade === 'F' ? 'D' : grade, what, ...(answer.location && { mend: NO_REDIRECT }) };
    case 'survive':
      return (status > 0 && status < 500) || isClosed ? undefined : { grade: 'B', what };
    default:
      if (isRefused || (isClosed && must === 'refuse or close')) return undefined;
      if (isAccepted) return { grade, what };
      return { grade: 'B', what, mend: `answer 401 to what does not verify, also when your code throws; ${mend}` };
  }
}

const WANTED = {
  accept: '2xx',
  refuse: '4xx',
  'refuse or close': '4xx',
  survive: 'an answer below 500',
  nothing: 'nothing',
};

const NO_REDIRECT = 'answer at the address itself: deliveries follow no redirects';

/** An answer in a few words. */
export function said({ status, error, location }: Answer): string {
  if (status === undefined) return error === 'ECONNRESET' ? 'a closed connection' : (error ?? 'no answer');
  return location === undefined ? String(status) : `${status} (a redirect to ${location}, not followed)`;
}

/** The failure with the worst grade. */
export function worst(failures: readonly (Failure | undefined)[]): Failure | undefined {
  return failures.reduce(
    (most, failure) => (failure && failure.grade > (most?.grade ?? '') ? failure : most),
    undefined,
  );
}
