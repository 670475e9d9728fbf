/** Room in memory for bodies that are being read, whose senders are not known yet. */
import assert from 'node:assert/strict';

/** What a body takes of the room. */
export interface Place {
  /** Says how many bytes of it are kept now. Others give way when there is no room for them, or this one does. */
  hold(bytes: number): void;
  leave(): void;
}

interface Holding {
  bytes: number;
  readonly giveWay: () => void;
}

/** What an address holds. */
interface Sender {
  bytes: number;
  readonly holdings: Set<Holding>;
}

/**
 * Opens room for so many bytes. Whoever sends slowly takes what he has sent, not a place, so slow senders do not shut
 * out others. When the room is used up, the largest body of the address that holds the most gives way: a body that is
 * small and comes at once is read while larger ones are not.
 */
export function openBodyRoom(mostBytes: number) {
  const senders = new Map<string, Sender>();
  let heldBytes = 0;

  function makeRoom(): void {
    while (heldBytes > mostBytes) largestOf(largestOf(senders.values()).holdings).giveWay();
  }

  return {
    /** Takes a place for a body from an address. `giveWay` is called when it must be given up, and leaves it. */
    enter(address: string, giveWay: () => void): Place {
      const holding: Holding = { bytes: 0, giveWay };
      const sender = senders.get(address) ?? { bytes: 0, holdings: new Set() };
      senders.set(address, sender);
      sender.holdings.add(holding);
      const resize = (bytes: number) => {
        heldBytes += bytes - holding.bytes;
        sender.bytes += bytes - holding.bytes;
        holding.bytes = bytes;
      };
      return {
        hold(bytes) {
          resize(bytes);
          makeRoom();
        },
        leave() {
          resize(0);
          sender.holdings.delete(holding);
          if (sender.holdings.size === 0) senders.delete(address);
        },
      };
    },
  };
}

/** The largest of some of which one is larger than 0. */
function largestOf<T extends { readonly bytes: number }>(all: Iterable<T>): T {
  let largest: T | undefined;
  for (const each of all) if (!largest || each.bytes > largest.bytes) largest = each;
  assert(largest && largest.bytes > 0, 'what is held is held by somebody');
  return largest;
}

export type BodyRoom = ReturnType<typeof openBodyRoom>;
