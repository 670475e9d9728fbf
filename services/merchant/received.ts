/** The notifications that the demo merchant received, on disk. */
import { openSqliteFile } from '../../platform/sqlite-file.ts';

/** One verified notification. */
interface Notification {
  readonly merchantId: string;
  readonly requestId: string;
  /** Such as payment; later versions may send others. */
  readonly kind: string;
  readonly statusInfo: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The body, parsed. */
  readonly body: object;
  /** The body as it came. */
  readonly bodyText: string;
}

/** A notification as GET /received shows it. */
export interface ReceivedItem extends Omit<Notification, 'merchantId'> {
  /** RFC 3339, UTC. */
  readonly receivedAt: string;
  /** Always true: a notification that does not verify is refused and not kept. */
  readonly verified: true;
  /** How often the same operation's notification came again. */
  readonly duplicateCount: number;
}

export type Received = ReturnType<typeof openReceived>;

/** Opens the list. Creates the file when there is none. */
export function openReceived(file: string) {
  const database = openSqliteFile('MERCHANT_DATA', file);
  database.exec(SCHEMA);
  const insert = database.prepare(INSERT);
  const select = database.prepare(SELECT);
  return {
    /** Stores a notification, or counts it when its operation is already known. Returns true for a duplicate. */
    keep({ merchantId, ...notification }: Notification): boolean {
      const item = { receivedAt: new Date().toISOString(), verified: true, ...notification };
      const row = insert.get(merchantId, item.requestId, JSON.stringify(item)) as { duplicateCount: number };
      return row.duplicateCount > 0;
    },
    /** The last 1 000 received, newest last; of one operation when it is named. */
    list: (requestId?: string): ReceivedItem[] =>
      select.all(requestId ?? null, requestId ?? null).map((row) => ({
        ...(JSON.parse(String(row.item)) as Omit<ReceivedItem, 'duplicateCount'>),
        duplicateCount: Number(row.duplicateCount),
      })),
    close: () => database.close(),
  };
}

const SCHEMA = `
  create table if not exists received (
    position integer primary key,
    merchantId text not null,
    requestId text not null,
    item text not null,
    duplicateCount integer not null default 0,
    unique (merchantId, requestId)
  ) strict`;

const INSERT = `
  insert into received (merchantId, requestId, item) values (?, ?, ?)
  on conflict (merchantId, requestId) do update set duplicateCount = duplicateCount + 1
  returning duplicateCount`;

const SELECT = `
  select * from (
    select position, item, duplicateCount from received where ? is null or requestId = ? order by position desc
      limit 1000
  ) order by position`;
