import { Contract, contractJson } from '../../resource/contract.ts';
import { restRoute } from '../route.ts';

/** Addresses, and the account at the processor, are shown to operators and to keys that manage the webhook. */
const OwnContract = Contract.omit({ webhookUrl: true, internalUrl: true, processorAccount: true }).meta({
  id: 'OwnContract',
  description: 'What the merchant may do',
});

export const getContract = restRoute({
  path: '/contract',
  tag: 'Contract',
  summary: 'Look up what the contract allows',
  description:
    'Currencies, terminals, the period of holds and how often a hold may be captured, as operators have set them. ' +
    'Refusals of a `currency` or a `terminalId`, and MULTIPLE_CAPTURES_NOT_ALLOWED and SIGNATURE_REQUIRED, follow ' +
    'from it.',
  answers: { 200: { description: 'The contract', schema: OwnContract } },
  handler: async ({ core, merchantId }) => {
    const { contract } = await core.merchants.getContract({ merchantId });
    const { webhookUrl: _, internalUrl: __, processorAccount: ___, ...own } = contractJson(contract);
    return own;
  },
});
