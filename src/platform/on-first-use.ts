/** Returns `compute` with its results kept, one per key. For keys of a limited set, because nothing is evicted. */
export function onFirstUse<Key, Value>(compute: (key: Key) => Value): (key: Key) => Value {
  const values = new Map<Key, Value>();
  return (key) => {
    const value = values.get(key) ?? compute(key);
    values.set(key, value);
    return value;
  };
}
