import { z } from 'zod';
import { PreauthorizationSchema } from '../../../proto/gen/holdfast/v1/preauthorization_pb.js';
import { answer } from '../../resource/answer.ts';
import { HOLD } from '../../resource/hold.ts';
import * as fields from '../../resource/request-fields.ts';

/** A hold with its preauthorizationId, once it is placed. */
export const Hold = answer('Hold', PreauthorizationSchema, {
  ...HOLD,
  without: ['generatedTokenId', 'frozen', 'captures'],
});

/** What a request can say of a hold, also later. */
export const metadata = z
  .record(
    fields.text(40),
    z
      .string()
      .max(500)
      .and(fields.text(500).or(z.literal(''))),
  )
  .refine((pairs) => Object.keys(pairs).length <= 20, 'must have at most 20 pairs')
  .describe(
    "The merchant's own data: at most 20 pairs, keys to 40 and values to 500 characters, 16 384 bytes in UTF-8 in " +
      'all',
  );

export const captureAt = fields.time.describe(
  'When what remains is captured by itself, once: in the future, before `releaseAt` and the end of the period',
);

export const releaseAt = fields.time.describe(
  "An end earlier than the period's: in the future, before the end of the period",
);
