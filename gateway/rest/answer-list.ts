import type { z } from 'zod';
import { answerCsv, type CsvPage, wantsCsv } from '../resource/csv.ts';
import { identityOf } from './authenticate.ts';
import type { RestCall } from './route.ts';

/**
 * Answers with a page of a list, or with `Accept: text/csv` with all of it. `read` reads a page: that of the query,
 * unless it is told which.
 */
export async function answerList(
  { ctx, merchantId, closing, credentials, exportLimit }: RestCall,
  schema: z.ZodObject,
  pageToken: string | undefined,
  read: (page: { readonly pageSize?: number; readonly pageToken?: string }) => Promise<CsvPage>,
): Promise<void> {
  if (!wantsCsv(ctx)) {
    ctx.body = await read({});
    return;
  }
  const { isLive } = identityOf(ctx);
  const isAllowed = () => !closing.aborted && credentials.isFresh() && isLive();
  await answerCsv(ctx, exportLimit, { schema, pageToken, read, account: merchantId, isLive: isAllowed });
}
