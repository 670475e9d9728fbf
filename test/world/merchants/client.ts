/**
 * A client that does what each answer says, and records the answers: the merchants' package (`client/`), the same in
 * Python, or one that takes the table of answers literally, with or without keys.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { Holdfast } from '../../../client/holdfast.ts';
import { HoldfastError } from '../../../client/refusal.ts';
import { confirm } from '../../services/sandbox/checkout/browse.ts';
import type { Merchant } from '../../torture/deployment/deployment.ts';
import type { Caller, Heard } from './caller.ts';
import type { Intention, Told } from './intention.ts';
import { readAnswer } from './promise.ts';
import type { PythonClient } from './python.ts';

/** What of an answer of the package is recorded. */
type Answered = { readonly outcome: 'done' | 'unknown' } & Named;

/** What an answer names; of an extension the requestId is the hold's. */
type Named = Pick<Told, 'requestId' | 'preauthorizationId'> & {
  readonly extensionRequestId?: string;
  readonly releaseRequestId?: string;
};

const namesOf = ({ requestId, extensionRequestId, releaseRequestId, preauthorizationId }: Named) => ({
  requestId: extensionRequestId ?? releaseRequestId ?? requestId,
  preauthorizationId,
});

type Heeded = Pick<Intention, 'kind' | 'refusedAs'>;

export type Client = ReturnType<typeof openClient>;

/** Opens the clients of all merchants. */
export function openClient(
  caller: Caller,
  /**
   * TABLE sends no Idempotency-Key, so it may not repeat what a broken connection leaves unanswered; the others keep a
   * key over all tries.
   */
  by: 'PACKAGE' | 'TABLE' | 'KEYED_TABLE' | PythonClient,
  /** How long a frozen process, which is not at fault, delayed an answer that arrived just now, in milliseconds. */
  excusedMs: (heard: Heard) => number,
) {
  const isKeyed = by !== 'TABLE';
  const isLiteral = by === 'TABLE' || by === 'KEYED_TABLE';
  const told: Told[] = [];
  const answers = new Map<string, number>();
  const unexplained = new Map<string, string[]>();
  let open = 0;
  /** Counts an answer that the table does not contain, by its kind. */
  const blame = (what: string, story: readonly string[]) =>
    unexplained.set(what, [...(unexplained.get(what) ?? []), story.join('; ')]);
  const turnstile = openTurnstile(ASKING_AT_ONCE);
  const count = (what: string) => answers.set(what, (answers.get(what) ?? 0) + 1);

  /** Records an answer of the service, and whether the table contains it. */
  function hear({ kind, refusedAs }: Heeded, heard: Heard, story: string[]) {
    const reading = readAnswer(kind, isKeyed, heard, refusedAs);
    const word = `${kind} ${heard.status || 'connection broken'} ${heard.body.code ?? ''}`.trim();
    count(word);
    story.push(`${word} after ${Math.round(heard.tookMs)} ms`);
    if (reading.fault !== undefined) blame(`${kind} ${reading.fault}`, story);
    const lateMs = heard.tookMs - excusedMs(heard);
    if (lateMs > ANSWER_WITHIN_MS) blame(`${kind} answered after more than 20 s`, story);
    return reading;
  }

  /** By the package. */
  async function send({ kind, merchant, path, body, refusedAs }: Intention, patienceMs: number, story: string[]) {
    const ask: typeof fetch = async (_url, init = {}) => {
      const { 'idempotency-key': key } = init.headers as Record<string, string>;
      const heard = await caller.send({ apiKey: merchant.apiKey, path, body, key });
      hear({ kind, refusedAs }, heard, story);
      if (heard.status === 0) throw new TypeError('fetch failed', { cause: heard.body });
      const headers = Object.entries(heard.headers).map(([name, value]): [string, string] => [name, String(value)]);
      return new Response(JSON.stringify(heard.body), { status: heard.status, headers });
    };
    const { holds, refunds, octs } = new Holdfast({ baseUrl: 'http://gateway', apiKey: merchant.apiKey, fetch: ask });
    const write = {
      hold: holds.create,
      'step-up': holds.create,
      capture: holds.capture,
      release: holds.release,
      part: holds.release,
      increment: holds.increment,
      extension: holds.extend,
      renewal: holds.renew,
      refund: refunds.create,
      oct: octs.create,
    }[kind];
    return (write as (body: object, options: object) => Promise<Answered>)(body, { timeoutMs: patienceMs });
  }

  async function obeyByPackage(intention: Intention, patienceMs: number): Promise<Told> {
    const story: string[] = [];
    try {
      if (typeof by === 'object') {
        const answered = await by.want(intention, patienceMs, (heard) => hear(intention, heard, story));
        return { ...intention, ...answered, story };
      }
      const answered = await send(intention, patienceMs, story);
      const outcome = answered.outcome === 'done' ? 'done' : 'undecided';
      return { ...intention, ...namesOf(answered), outcome, story };
    } catch (error) {
      if (!(error instanceof HoldfastError)) throw error;
      return { ...intention, outcome: 'not done', requestId: error.requestId, story };
    }
  }

  /**
   * By the table: believes that what is not there later than 30 seconds was never done, and that of a request that was
   * answered 503 nothing will come, and does nothing more about it then.
   */
  async function obey(intention: Intention, patienceMs: number): Promise<Told> {
    const { kind, merchant, path, body } = intention;
    const story: string[] = [];
    const end = (outcome: Told['outcome'], more: Partial<Told> = {}): Told => ({
      ...intention,
      ...more,
      outcome,
      story,
    });
    const endMs = performance.now() + patienceMs;
    const key = isKeyed ? randomUUID() : undefined;
    // Of a try that was not answered, or not decided, a refusal of a later one says nothing.
    let isInDoubt = false;
    for (;;) {
      const heard = await caller.send({ apiKey: merchant.apiKey, path, body, key });
      const { promised, afterMs } = hear(intention, heard, story);
      const { requestId } = heard.body;
      if (promised === 'done') return end('done', namesOf(heard.body));
      if (promised === 'refused' && (!isInDoubt || requestId !== undefined)) return end('not done', { requestId });
      if (promised === 'unexplained') return end('undecided');
      if (promised === 'ask') {
        const askedMs = performance.now();
        const found = await turnstile(() => ask(merchant, requestId, askedMs, story));
        if (found === 'OK') return end('done', { requestId });
        if (found === 'KO') return end('not done', { requestId });
        return end('not done');
      }
      if (promised === 'broken' && !isKeyed) {
        blame(`${kind} no answer, ${heard.body.code}`, story);
        return end('undecided');
      }
      if (heard.status === 503 && !isInDoubt) return end('not done');
      isInDoubt ||= promised === 'broken' || promised === 'unknown';
      await delay(afterMs);
      if (performance.now() > endMs) return end(isInDoubt ? 'undecided' : 'not done');
    }
  }

  /**
   * Asks until the outcome is final; a 404 is final when it comes late enough after the answer that named the
   * operation.
   */
  async function ask(
    merchant: Merchant,
    requestId: string,
    sinceMs: number,
    story: string[],
  ): Promise<'OK' | 'KO' | 'never'> {
    let pauseMs = 250;
    for (;;) {
      await delay(pauseMs);
      pauseMs = Math.min(3_000, pauseMs * 1.5);
      const askedMs = performance.now() - sinceMs;
      const { status, body } = await caller.send({ apiKey: merchant.apiKey, path: `/operations/${requestId}` });
      count(`GET ${status || 'connection broken'} ${body.code ?? body.status ?? ''}`);
      if (status === 200 && (body.status === 'OK' || body.status === 'KO')) {
        story.push(`found ${body.status} ${body.processorCode ?? ''} after ${Math.round(askedMs)} ms`);
        return body.status;
      }
      if (status === 404 && askedMs > NEVER_AFTER_MS) {
        story.push('found 404');
        return 'never';
      }
    }
  }

  /** Records what an intention comes to, with what the customer makes of it. */
  async function carryOut(
    intention: Intention,
    patienceMs: number,
    then: (asked: Told) => Promise<Told> = async (asked) => asked,
  ): Promise<Told> {
    open++;
    try {
      const asked = await (isLiteral ? obey : obeyByPackage)(intention, patienceMs);
      const outcome = asked.outcome === 'done' ? await then(asked) : asked;
      told.push(outcome);
      return outcome;
    } finally {
      open--;
    }
  }

  /** The customer answers the issuer, whose page may be down for a while; the hold says what came of it. */
  async function authenticate(asked: Told, answer: 'pass' | 'fail'): Promise<Told> {
    const { merchant, requestId, story } = asked;
    for (;;) {
      const { status, body } = await caller.send({ apiKey: merchant.apiKey, path: `/preauthorization/${requestId}` });
      count(`GET ${status || 'connection broken'} ${body.code ?? body.phase ?? ''}`);
      if (status === 404) blame('step-up done and not found', story);
      const isOver = status === 404 || (status === 200 && !OPEN_PHASES.has(body.phase));
      if (isOver) {
        const isPlaced = body.preauthorizationId !== undefined;
        return { ...asked, ...namesOf(body), outcome: isPlaced ? 'done' : 'not done', story: [...story, body.phase] };
      }
      if (body.nextAction) await confirm(body.nextAction.url, answer).catch(() => undefined);
      await delay(500);
    }
  }

  return {
    told,
    answers,
    unexplained,
    /** Intentions without an outcome so far. */
    open: () => open,
    /**
     * Obeys until there is an outcome; gives up after a while when every answer says to retry later, as clients may.
     */
    want: (intention: Intention, patienceMs = GIVES_UP_MS) => carryOut(intention, patienceMs),
    /** Wants a hold whose issuer asks the customer; it is done, or not, once the customer has answered. */
    wantAuthenticated: (intention: Intention, answer: 'pass' | 'fail') =>
      carryOut(intention, GIVES_UP_MS, (asked) => authenticate(asked, answer)),
    /** Wants a hold renewed; if that is done, or may be, the service releases the old one by itself. */
    async wantRenewed(renewal: Intention, release: Intention): Promise<Told> {
      const answer = await this.want(renewal);
      if (answer.outcome !== 'not done') told.push({ ...release, outcome: 'undecided', story: answer.story });
      return answer;
    },
    /** Reads the preauthorizationId of a hold that was found to be placed. Repeats until there is an answer. */
    async handleOf({ merchant, requestId, preauthorizationId }: Told): Promise<string> {
      if (preauthorizationId !== undefined) return preauthorizationId;
      for (;;) {
        const { status, body } = await caller.send({ apiKey: merchant.apiKey, path: `/preauthorization/${requestId}` });
        count(`GET ${status || 'connection broken'} ${body.code ?? body.status ?? ''}`);
        if (status === 200 && body.preauthorizationId !== undefined) return body.preauthorizationId;
        if (status === 404) blame('hold done and not found', [String(requestId)]);
        if (status === 404) return '';
        await delay(500);
      }
    },
  };
}

/** Limits concurrent inquiries: a flood that was answered 202 would otherwise ask all at once. */
function openTurnstile(most: number): <T>(act: () => Promise<T>) => Promise<T> {
  const waiting: (() => void)[] = [];
  let inside = 0;
  return async (act) => {
    if (inside >= most) await new Promise<void>((resolve) => waiting.push(resolve));
    else inside++;
    try {
      return await act();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else inside--;
    }
  };
}

/** The customer has not answered, or core does not know what came of it. */
const OPEN_PHASES: ReadonlySet<string> = new Set(['AWAITING_CUSTOMER', 'AUTHORIZING', 'UNKNOWN']);
const ASKING_AT_ONCE = 100;
const ANSWER_WITHIN_MS = 20_000;
const NEVER_AFTER_MS = 30_000;
const GIVES_UP_MS = 90_000;
