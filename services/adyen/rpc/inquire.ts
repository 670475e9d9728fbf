import { timestampDate } from '@bufbuild/protobuf/wkt';
import { notPerformed } from '../../../platform/adapter/ending.ts';
import { findingOf, type InquiryReply } from '../../../platform/adapter/identifier.ts';
import { OutcomeUnknown } from '../../../platform/adapter/serve.ts';
import { Answer, Finding, type InquireRequest } from '../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import type { Context } from '../adapter-context.ts';
import { ENTRIES, type Entry, intentOf } from '../ledger/entry.ts';
import { advance } from '../settlement/advance.ts';
import { resultOf, settle } from '../settlement/settle.ts';
import { isStepUp } from '../settlement/step-up.ts';

/**
 * Returns what became of an identifier. What Adyen has not answered is sent again under its key, which finds it out.
 * Adyen offers no way to look for an identifier, so one that is not in the ledger is fenced only when the ledger is
 * complete since before it was made.
 */
export async function inquire(context: Context, request: InquireRequest): Promise<InquiryReply> {
  const { requestId, fence, createdAt } = request;
  const known = await ENTRIES.find(context.database.query, requestId);
  if (known) return findOut(context, known);
  const isNewer = createdAt && timestampDate(createdAt) >= (await context.completeSince());
  if (!fence || !isNewer) return { finding: Finding.NEVER_SEEN, fenced: false };
  const { merchantId, account } = request;
  const fenced = await context.database.transaction(async (query) => {
    const entry = await ENTRIES.insert(query, intentOf('fence', { requestId, merchantId, account }));
    return entry && settle(context, query, entry, notPerformed('fenced', ''));
  });
  // Its request came in between: then that is what became of it.
  return fenced ? { finding: Finding.NEVER_SEEN, fenced: true } : inquire(context, request);
}

async function findOut(context: Context, known: Entry): Promise<InquiryReply> {
  if (known.answer !== Answer.UNSPECIFIED && !isStepUp(known)) return findingOf(known, resultOf(context, known));
  try {
    const found = await advance(context, known.requestId);
    return findingOf(found, resultOf(context, found));
  } catch (error) {
    if (error instanceof OutcomeUnknown) return { finding: Finding.AT_WORK };
    throw error;
  }
}
