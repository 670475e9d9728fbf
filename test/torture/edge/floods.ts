/** Floods of hostile JSON, and of requests that are cheap to send. */
import { randomBytes } from 'node:crypto';
import type { Attack, Target } from './attack.ts';
import { flood, JSON_TYPE, RELAY, type Shot } from './flood.ts';

const LARGEST_BYTES = 64 * 1024;
const SENDERS = 40;

const SIGNED = { ...JSON_TYPE, 'x-service-signature': randomBytes(32).toString('base64') };

/** Bodies of 64 KiB that are expensive to parse for their size. */
const BODIES = {
  'small values': `{"a":[${'0,'.repeat(LARGEST_BYTES)}`.slice(0, LARGEST_BYTES - 3).replace(/,?$/, ']}'),
  'nested arrays': '['.repeat(LARGEST_BYTES),
  'many names': `{${Array.from({ length: 5_400 }, (_, index) => `"n${index}":0`).join(',')}}`,
  'escaped text': `{"a":"${'\\u0041'.repeat(LARGEST_BYTES / 6 - 2)}"}`,
};

/** A flood with its permitted answers. A server may also close a connection without reading the body of a request. */
function floodOf(
  name: string,
  meets: readonly (number | 'closed')[],
  prepare: (target: Target) => (() => Shot) | Promise<() => Shot>,
): Attack {
  return {
    name: `${name}, ${SENDERS} senders`,
    expects: meets.join(', ').replace(', closed', ' or closed'),
    async run(target) {
      const { file, floodMs: forMs } = target;
      const answers = await flood(await prepare(target), { baseUrl: file.baseUrl, forMs, senders: SENDERS });
      return { answers, faults: answers.notAmong(meets) };
    },
  };
}

function bodyFlood(
  at: string,
  body: keyof typeof BODIES,
  meets: readonly number[],
  shot: Pick<Shot, 'path' | 'headers'>,
) {
  return floodOf(`64 KiB of ${body} ${at}`, [...meets, 'closed'], () => () => ({
    ...shot,
    method: 'POST',
    body: BODIES[body],
  }));
}

const atRelay = (body: keyof typeof BODIES) =>
  bodyFlood('at the relay', body, [400, 429], { path: RELAY, headers: SIGNED });

export const FLOODS: readonly Attack[] = [
  atRelay('small values'),
  atRelay('nested arrays'),
  atRelay('many names'),
  atRelay('escaped text'),
  bodyFlood("at the operators' login", 'small values', [400, 413, 429], {
    path: '/operator/session',
    headers: JSON_TYPE,
  }),
  bodyFlood('at the REST, without a key', 'small values', [401, 429], {
    path: '/preauthorization',
    headers: JSON_TYPE,
  }),
  // A merchant is limited by its key's rate, and its requests must not cost more than others'.
  floodOf('64 KiB of small values by another merchant', [400, 429, 'closed'], async (target) => {
    const { apiKey } = await target.createMerchant();
    const headers = { ...JSON_TYPE, authorization: `Bearer ${apiKey}` };
    return () => ({ method: 'POST', path: '/preauthorization', headers, body: BODIES['small values'] });
  }),
  floodOf('API keys that nobody has', [401, 429], () => () => {
    const headers = { authorization: `Bearer hf_${randomBytes(32).toString('base64url')}` };
    return { method: 'GET', path: '/preauthorization', headers };
  }),
];
