import type { z } from 'zod';
import { answerPageOrCsv, type Export } from '../resource/csv.ts';
import type { AuthenticatedCall } from './route.ts';

/** Answers with a page of a list of all merchants, or with all of it as CSV. */
export async function answerList(
  { ctx, operator, closing, exportLimit }: AuthenticatedCall,
  schema: z.ZodObject,
  pageToken: string | undefined,
  read: Export['read'],
): Promise<void> {
  // No merchantId has a slash.
  const account = `operator/${operator.name}`;
  const isLive = () => !closing.aborted && operator.isLive();
  await answerPageOrCsv(ctx, exportLimit, { schema, pageToken, read, account, isLive });
}
