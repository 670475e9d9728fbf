import assert from 'node:assert/strict';
import { openBodyRoom } from '../../platform/body-room.ts';

describe('openBodyRoom()', () => {
  /** Bodies by name; those that gave way are in `gone`. */
  function open(mostBytes: number) {
    const room = openBodyRoom(mostBytes);
    const gone: string[] = [];
    const enter = (name: string, address: string) => {
      const place = room.enter(address, () => {
        gone.push(name);
        place.leave();
      });
      return place;
    };
    return { gone, enter };
  }

  it('lets the largest body of the address that holds the most give way', () => {
    const { gone, enter } = open(100);
    enter('a1', 'a').hold(30);
    enter('a2', 'a').hold(35);
    enter('b', 'b').hold(34);
    assert.deepEqual(gone, []);
    enter('c', 'c').hold(2);
    assert.deepEqual(gone, ['a2']);
  });

  it('lets a body itself give way when it is the largest, and small ones of others stay', () => {
    const { gone, enter } = open(100);
    for (let index = 0; index < 20; index += 1) enter(`small ${index}`, `address ${index}`).hold(4);
    const large = enter('large', 'b');
    large.hold(20);
    assert.deepEqual(gone, []);
    large.hold(21);
    assert.deepEqual(gone, ['large']);
  });

  it('has no bound on how many there are that have sent nothing', () => {
    const { gone, enter } = open(10);
    const places = Array.from({ length: 1_000 }, (_, index) => enter(`idle ${index}`, 'a'));
    enter('small', 'b').hold(10);
    assert.deepEqual(gone, []);
    for (const place of places) place.leave();
  });

  it('has its room again when bodies were read', () => {
    const { gone, enter } = open(10);
    for (let index = 0; index < 5; index += 1) {
      const place = enter(`body ${index}`, 'a');
      place.hold(10);
      place.leave();
    }
    assert.deepEqual(gone, []);
  });
});
