/** Guessed signatures under various disguises, and their effect on a valid sender; names that differ only in case. */
import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { request } from 'undici';
import { signNotification } from '../../../client/webhooks/signature.ts';
import { Answers, type Attack, type Merchant, type Met, newAddress, type Target } from './attack.ts';
import { flood, JSON_TYPE, RELAY, type Shot } from './flood.ts';

/** A validly signed notification of a merchant with `amount` 100000; `more` is inserted before its end, unsigned. */
function notification({ merchantId, signingSecret }: Merchant, more = ''): Shot & { readonly body: string } {
  const requestId = randomBytes(8).toString('hex');
  const fields = { merchantId, requestId, status: 'OK', amount: '100000', currency: 'EUR' } as const;
  const names = `"merchantId":"${merchantId}","requestId":"${requestId}"`;
  const body = `{${names},"status":"OK","amount":100000,"currency":"EUR"${more}}`;
  const signature = signNotification(signingSecret, fields);
  return { method: 'POST', path: RELAY, headers: { ...JSON_TYPE, 'x-service-signature': signature }, body };
}

/** A notification that claims to be the merchant's, with an invalid signature. */
function guess(merchant: Merchant, headers: Record<string, string> = {}): Shot {
  const shot = notification(merchant);
  const signature = randomBytes(32).toString('base64');
  return { ...shot, headers: { ...JSON_TYPE, ...headers, 'x-service-signature': signature } };
}

/** Guesses, and the right request at the same address, which must be answered all the while. */
async function guessBeside(
  target: Target,
  headers: Record<string, string>,
  guess: () => Shot,
  guessEveryMs: number,
  right: {
    readonly shot: () => Shot;
    readonly everyMs: number;
    readonly meets: readonly number[];
    readonly what: string;
  },
): Promise<Met> {
  const { file, floodMs: forMs } = target;
  const guessing = flood(guess, { baseUrl: file.baseUrl, forMs, senders: 2, pauseMs: guessEveryMs });
  const met = new Answers();
  let isOver = false;
  const over = guessing.finally(() => {
    isOver = true;
  });
  while (!isOver) {
    met.add(await post(target, right.shot(), headers));
    await delay(right.everyMs);
  }
  const answers = await over;
  const missed = met.notAmong(right.meets).map((answer) => `the right ${right.what}: ${answer}`);
  return { answers, faults: [...answers.notAmong([401, 429]), ...missed] };
}

const wrongSignatures: Attack = {
  name: 'Wrong signatures, 20 a second, beside the right sender at the same address',
  expects: '401, then 429; the right sender 200',
  run(target) {
    const headers = { 'x-forwarded-for': newAddress() };
    const right = { shot: () => notification(target.healthy), everyMs: 250, meets: [200], what: 'sender' };
    // Within the rate at which verification continues during a penalty, so that the valid sender never exceeds it.
    return guessBeside(target, headers, () => guess(target.healthy, headers), 100, right);
  },
};

/** One sender in many spellings must count as one: ten failures a minute get 401. */
function disguised(name: string, forwardedFor: (sent: number) => string): Attack {
  return {
    name: `Wrong signatures, X-Forwarded-For with ${name}`,
    expects: 'at most 10 × 401, then 429',
    async run(target) {
      const next = (sent: number) => guess(target.healthy, { 'x-forwarded-for': forwardedFor(sent) });
      const answers = await flood(next, { baseUrl: target.file.baseUrl, forMs: 2_000, senders: 4, pauseMs: 20 });
      const verified = answers.get('401') ?? 0;
      const faults = verified > MOST_FAILURES ? [`${verified} × 401 where ${MOST_FAILURES} are allowed`] : [];
      return { answers, faults: [...answers.notAmong([401, 429]), ...faults] };
    },
  };
}

/** Ten per minute, and a minute may end during the attack. */
const MOST_FAILURES = 20;

const wrongTokens: Attack = {
  name: 'Wrong operator tokens, beside the right one at the same address',
  expects: '401, then 429; the right one 200',
  run(target) {
    const headers = { ...JSON_TYPE, 'x-forwarded-for': newAddress() };
    const login = (token: string): Shot => {
      return { method: 'POST', path: '/operator/session', headers, body: JSON.stringify({ token, operator: 'edge' }) };
    };
    const right = { shot: () => login(target.file.operatorToken), everyMs: 500, meets: [200, 201], what: 'token' };
    return guessBeside(target, headers, () => login(randomBytes(32).toString('base64url')), 50, right);
  },
};

const foldedNames: Attack = {
  name: 'Rightly signed, with a second name that differs in case only (Amount, STATUS, ſtatus, …)',
  expects: '400',
  async run(target) {
    const merchant = await target.createMerchant();
    const answers = new Answers();
    const faults: string[] = [];
    for (const name of FOLDED) {
      const status = await post(target, notification(merchant, `,"${name}":"1"`));
      answers.add(status);
      if (status !== 400) faults.push(`${name}: ${status}`);
    }
    return { answers, faults };
  },
};

const FOLDED = [
  ...['Amount', 'AMOUNT', 'amounT', 'Status', 'ſtatus', 'statuſ', 'STATUS', 'Currency', 'MerchantId', 'merchantid'],
  ...['merchantID', 'RequestId', 'requeſtId', 'requestid'],
];

async function post(
  { file }: Target,
  { path, body, headers }: Shot,
  more: Record<string, string> = {},
): Promise<number> {
  const answer = await request(file.baseUrl + path, {
    method: 'POST',
    headers: { ...headers, ...more },
    body: body ?? '',
  });
  await answer.body.dump();
  return answer.statusCode;
}

export const SIGNATURES: readonly Attack[] = [
  wrongSignatures,
  disguised('ports', (sent) => `9.9.9.8:${1024 + sent}`),
  disguised('IPv6 addresses of one network, with ports', (sent) => `[2001:db8::${sent.toString(16)}]:${1024 + sent}`),
  wrongTokens,
  foldedNames,
];
