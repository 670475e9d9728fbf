/** A merchant whose processor answers none of its calls, beside a merchant of the same processor. */
import type { Attack } from './attack.ts';
import { flood, JSON_TYPE } from './flood.ts';

const SENDERS = 100;
const HOLD = {
  tokenId: 'tok_sandbox_timeout_lost',
  amount: 1000,
  currency: 'EUR',
  terminalId: 'till-1',
  userId: 'ann',
};

export const SILENT_PROCESSOR: readonly Attack[] = [
  {
    name: `Holds that the processor does not answer, of one merchant, ${SENDERS} senders`,
    expects: '202 or 503; 502 once it is known that nothing arrived',
    short: true,
    async run({ file, floodMs, createMerchant }) {
      const { apiKey } = await createMerchant();
      const headers = { ...JSON_TYPE, authorization: `Bearer ${apiKey}` };
      const shot = { method: 'POST', path: '/preauthorization', headers, body: JSON.stringify(HOLD) } as const;
      const options = { baseUrl: file.baseUrl, forMs: floodMs, senders: SENDERS, pauseMs: 20 };
      const answers = await flood(() => shot, options);
      return { answers, faults: answers.notAmong([202, 429, 502, 503]) };
    },
  },
];
