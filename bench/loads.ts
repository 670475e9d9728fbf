/** What a load process does: each load opens its connections, then acts as often as it is asked. */
import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { v7 as uuidv7 } from 'uuid';
import { signNotification } from '../client/webhooks/signature.ts';
import { ProcessorService } from '../proto/gen/holdfast/processor/v1/processor_pb.js';
import { PreauthorizationService } from '../proto/gen/holdfast/v1/preauthorization_pb.js';
import { grpcClient } from './grpc-client.ts';
import { httpClient } from './http-client.ts';
import { type ScriptName, transactionsOf } from './references/scripts.ts';

/** One unit of load. */
export interface Load {
  act(): Promise<void>;
  close(): void;
}

type Options = Readonly<Record<string, string>>;

const HOLD = { tokenId: 'tok_sandbox_ok', currency: 'EUR', terminalId: 't1', userId: 'u1' };

export const LOADS = {
  /** Places holds by token over gRPC, for `merchants` in turn, if given; with `capture`, captures each in full. */
  hold({ address = '', token = '', merchantId: name = '', merchants = '0', capture }: Options): Load {
    const { unary, close } = grpcClient(address, token);
    const place = unary(PreauthorizationService.method.createPreauthorization);
    const captureInFull = unary(PreauthorizationService.method.capturePreauthorization);
    const amount = 10_000n;
    let turn = 0;
    return {
      async act() {
        const merchantId = Number(merchants) > 0 ? `${name}_${turn++ % Number(merchants)}` : name;
        const { preauthorization } = await place({ ...HOLD, merchantId, amount });
        if (capture !== 'yes') return;
        const preauthorizationId = preauthorization?.preauthorizationId ?? '';
        await captureInFull({ merchantId, preauthorizationId, amountToCapture: amount });
      },
      close,
    };
  },

  /** Places holds by token over REST; with `capture`, captures each in full. */
  'rest-hold'({ baseUrl = '', apiKey, capture }: Options): Load {
    const { post, close } = httpClient(baseUrl);
    const body = JSON.stringify({ ...HOLD, amount: 10_000 });
    const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' };
    return {
      async act() {
        const { preauthorizationId } = JSON.parse(await post('/preauthorization', headers, body, 201));
        if (capture !== 'yes') return;
        const captured = JSON.stringify({ preauthorizationId, amountToCapture: 10_000 });
        await post('/preauthorization/authorization', headers, captured, 200);
      },
      close,
    };
  },

  /** Sends signed notifications to the relay, each another requestId. */
  relay({ baseUrl = '', merchantId = '', secret = '' }: Options): Load {
    const { post, close } = httpClient(baseUrl);
    return {
      async act() {
        const fields = { merchantId, requestId: randomUUID(), status: 'OK', amount: '10000', currency: 'EUR' };
        const headers = { 'content-type': 'application/json', 'x-service-signature': signNotification(secret, fields) };
        const body = JSON.stringify({ ...fields, amount: 10_000, reference: 'bench' });
        await post('/webhook/processor/payment/captured', headers, body, 200);
      },
      close,
    };
  },

  /** Asks the processor alone: the part of a hold that is not ours. */
  authorize({ address = '', token = '' }: Options): Load {
    const { unary, close } = grpcClient(address, token);
    const authorize = unary(ProcessorService.method.authorize);
    return {
      async act() {
        await authorize({ ...HOLD, requestId: uuidv7(), merchantId: 'bench', amount: 10_000n });
      },
      close,
    };
  },

  /**
   * The reference's transactions through raw pg, row at a time, where pgbench is not installed; prepared, one
   * connection a lane.
   */
  pg({ databaseUrl, script, connections = '32' }: Options): Load {
    const pool = new pg.Pool({ connectionString: databaseUrl, max: Number(connections) });
    const transactions = transactionsOf(script as ScriptName);
    return {
      async act() {
        const ids: Options = { id: uuidv7(), operation: uuidv7(), delivery: uuidv7(), capture: uuidv7() };
        const client = await pool.connect();
        try {
          for (const transaction of transactions) await transaction(client, ids);
        } finally {
          client.release();
        }
      },
      close: () => void pool.end(),
    };
  },
} as const;
