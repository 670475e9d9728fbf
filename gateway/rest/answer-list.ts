import type { z } from 'zod';
import { answerPageOrCsv, type Export } from '../resource/csv.ts';
import { identityOf } from './authenticate.ts';
import type { RestCall } from './route.ts';

/** Answers with a page of a merchant's list, or with all of it as CSV. */
export async function answerList(
  { ctx, merchantId: account, closing, credentials, exportLimit }: RestCall,
  schema: z.ZodObject,
  pageToken: string | undefined,
  read: Export['read'],
): Promise<void> {
  const { isLive } = identityOf(ctx);
  const isAllowed = () => !closing.aborted && credentials.isFresh() && isLive();
  await answerPageOrCsv(ctx, exportLimit, { schema, pageToken, read, account, isLive: isAllowed });
}
