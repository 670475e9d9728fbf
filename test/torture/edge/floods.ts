/** Floods of hostile JSON, and of requests that are cheap to send. */
import { randomBytes } from 'node:crypto';
import type { Attack } from './attack.ts';
import { flood, type Shot } from './flood.ts';

const RELAY = '/webhook/processor/payment/captured';
const LARGEST_BYTES = 64 * 1024;
const SENDERS = 40;

const JSON_TYPE = { 'content-type': 'application/json' };
const SIGNED = { ...JSON_TYPE, 'x-service-signature': randomBytes(32).toString('base64') };

/** Bodies of 64 KiB that are expensive to parse for their size. */
const BODIES = {
  'small values': `{"a":[${'0,'.repeat(LARGEST_BYTES)}`.slice(0, LARGEST_BYTES - 3).replace(/,?$/, ']}'),
  'nested arrays': '['.repeat(LARGEST_BYTES),
  'many names': `{${Array.from({ length: 5_400 }, (_, index) => `"n${index}":0`).join(',')}}`,
  'escaped text': `{"a":"${'\\u0041'.repeat(LARGEST_BYTES / 6 - 2)}"}`,
};

/**
 * Servers that read JSON, with their permitted answers. A server may also close a connection without reading its body.
 */
const SERVERS = {
  relay: { path: RELAY, headers: SIGNED, meets: [400, 429] },
  "operators' login": { path: '/operator/session', headers: JSON_TYPE, meets: [400, 413, 429] },
  'REST, without a key': { path: '/preauthorization', headers: JSON_TYPE, meets: [401, 429] },
} as const;

function bodyFlood(server: keyof typeof SERVERS, body: keyof typeof BODIES): Attack {
  const { meets, ...shot } = SERVERS[server];
  return {
    name: `64 KiB of ${body} at the ${server}, ${SENDERS} senders`,
    expects: `${meets.join(', ')} or closed`,
    async run(target) {
      const each: Shot = { ...shot, method: 'POST', body: BODIES[body] };
      const answers = await flood(() => each, {
        baseUrl: target.file.baseUrl,
        forMs: target.floodMs,
        senders: SENDERS,
      });
      return { answers, faults: answers.notAmong([...meets, 'closed']) };
    },
  };
}

/** A merchant is limited by its key's rate, and its requests must not cost more than others'. */
const byMerchant: Attack = {
  name: `64 KiB of small values by another merchant, ${SENDERS} senders`,
  expects: '400, 429 or closed',
  async run(target) {
    const { apiKey } = await target.createMerchant();
    const headers = { ...JSON_TYPE, authorization: `Bearer ${apiKey}` };
    const shot = { method: 'POST', path: '/preauthorization', headers, body: BODIES['small values'] } as const;
    const answers = await flood(() => shot, { baseUrl: target.file.baseUrl, forMs: target.floodMs, senders: SENDERS });
    return { answers, faults: answers.notAmong([400, 429, 'closed']) };
  },
};

const unknownKeys: Attack = {
  name: `API keys that nobody has, ${SENDERS} senders`,
  expects: '401, 429',
  async run(target) {
    const next = (): Shot => {
      const headers = { authorization: `Bearer hf_${randomBytes(32).toString('base64url')}` };
      return { method: 'GET', path: '/preauthorization', headers };
    };
    const answers = await flood(next, { baseUrl: target.file.baseUrl, forMs: target.floodMs, senders: SENDERS });
    return { answers, faults: answers.notAmong([401, 429]) };
  },
};

export const FLOODS: readonly Attack[] = [
  bodyFlood('relay', 'small values'),
  bodyFlood('relay', 'nested arrays'),
  bodyFlood('relay', 'many names'),
  bodyFlood('relay', 'escaped text'),
  bodyFlood("operators' login", 'small values'),
  bodyFlood('REST, without a key', 'small values'),
  byMerchant,
  unknownKeys,
];
