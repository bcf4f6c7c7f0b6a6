import { describe, expect, it } from 'vitest';
import { databaseUrls, unencryptedHosts } from './database-url.ts';

describe('the URL of a database', () => {
  it.each([
    ['postgres://localhost/shop', ['postgres://localhost/shop']],
    [
      'postgresql://u:p@h1:1,h2:2/shop?a=b',
      ['postgresql://u:p@h1:1/shop?a=b', 'postgresql://u:p@h2:2/shop?a=b'],
    ],
    ['postgres://u:p,q@h1,h2', ['postgres://u:p,q@h1', 'postgres://u:p,q@h2']],
    ['postgres://[::1]:5,h2/x', ['postgres://[::1]:5/x', 'postgres://h2/x']],
    [
      'postgres://h1,h2/x?target_session_attrs=read-write',
      ['postgres://h1/x?target_session_attrs=read-write', 'postgres://h2/x?target_session_attrs=read-write'],
    ],
  ])('of %s has a URL for each host, in their order', (url, expected) => {
    expect(databaseUrls(url)).toEqual(expected);
  });

  it.each([
    ['?sslmode=require&channel_binding=require', '?sslmode=verify-full&channel_binding=require'],
    ['?sslmode=verify-ca&sslrootcert=/etc/ca.pem', '?sslmode=verify-full&sslrootcert=%2Fetc%2Fca.pem'],
    ['?sslmode=verify-full&sslrootcert=system', '?sslmode=verify-full'],
    ['?sslrootcert=system', '?sslmode=verify-full'],
    ['?pgbouncer=true&connection_limit=1', '?pgbouncer=true&connection_limit=1&prepared_statements=false'],
    ['?sslmode=no-verify', '?sslmode=no-verify'],
    ['?uselibpqcompat=true&sslmode=require', '?uselibpqcompat=true&sslmode=require'],
  ])('takes %s, as a managed service prints it, for %s', (given, expected) => {
    const url = 'postgresql://u:p%40%3D@db.example.com:6543/shop';
    expect(databaseUrls(url + given)).toEqual([url + expected]);
  });

  it.each([
    ['postgres://db.example.com/x', ['db.example.com']],
    ['postgres://db.example.com,10.0.0.2/x?sslmode=disable', ['db.example.com', '10.0.0.2']],
    ['postgres://[2001:db8::1]/x', ['[2001:db8::1]']],
    ['postgres://h/x?host=db.example.com', ['db.example.com']],
    ['postgres://db.example.com/x?ssl=true&sslmode=disable', ['db.example.com']],
    ['postgres://db.example.com/x?ssl=0', ['db.example.com']],
    ['postgres://db.example.com/x?sslmode=require', []],
    ['postgres://db.example.com/x?ssl=true', []],
    ['postgres://postgres:5432/x', []],
    ['postgres://db1:5432,db2:5432/x', ['db1', 'db2']],
    ['postgres://127.0.0.1,[::1],localhost/x', []],
    ['postgres:///x?host=/var/run/postgresql', []],
  ])('of %s leaves unencrypted what goes to %j', (url, hosts) => {
    expect(unencryptedHosts(url)).toEqual(hosts);
  });

  it.each([
    ['postgres://u:secret@h/x?sslmode=verify-full&sslmode=disable', 'has a parameter twice'],
    ['postgres://u:secret@h/x?sslmode=', 'or one without a value'],
    ['mysql://h/x', 'must be empty for SQLite in DATA_DIR, or a postgres:// URL'],
    ['postgres://u:secret@h1,/x', 'has a host 2 that is not HOST or HOST:PORT'],
    ['postgres://u:secret@h1:5,h2:port/x', 'has a host 2 that is not HOST or HOST:PORT'],
    ['postgres://u:secret@1,2,3,4,5,6/x', 'names more than 5 hosts'],
    ['postgres://u:secret@h1,h2/x?host=h3', 'names hosts in a list: remove the parameters host and port'],
    ['postgres://u:secret@h1,h2/x?target_session_attrs=any', 'can have target_session_attrs=read-write only'],
  ])('refuses %s, and says why without the password', (url, message) => {
    expect(() => databaseUrls(url)).toThrow(message);
    expect(() => databaseUrls(url)).not.toThrow('secret');
  });
});
