import { type LookupAddress, lookup } from 'node:dns';
import { BlockList, isIP, type LookupFunction } from 'node:net';
import { SiteError } from './body.js';

/** IANA's special-purpose ranges: none is a public website, and some have what a site must not make us fetch. */
const SPECIAL_V4 = [
  ...['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12', '192.0.0.0/24'],
  ...['192.0.2.0/24', '192.168.0.0/16', '198.18.0.0/15', '198.51.100.0/24', '203.0.113.0/24', '224.0.0.0/3'],
];
const SPECIAL_V6 = [
  ...['::/96', '64:ff9b:1::/48', '100::/64', '2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20', '5f00::/16'],
  ...['fc00::/7', 'fe80::/10', 'fec0::/10', 'ff00::/8'],
];
/** NAT64 writes an IPv4 address into the last 32 bits. */
const NAT64 = '64:ff9b::';

const special = new BlockList();
for (const range of SPECIAL_V4) {
  const [network = '', bits] = range.split('/');
  special.addSubnet(network, Number(bits), 'ipv4');
  special.addSubnet(NAT64 + network, 96 + Number(bits), 'ipv6');
}
for (const range of SPECIAL_V6) {
  const [network = '', bits] = range.split('/');
  special.addSubnet(network, Number(bits), 'ipv6');
}

/** Whether an address is of the public internet. An IPv4 address in IPv6 form counts as what it is. */
export function isPublic(address: string): boolean {
  return !special.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4');
}

/** @throws SiteError if a host is written as an address that is not public: no name is looked up for it */
export function refuseSpecial(hostname: string): void {
  const address = hostname.replace(/^\[(.*)\]$/, '$1');
  if (isIP(address) !== 0 && !isPublic(address)) throw refused(hostname, address);
}

/** Looks a name up for a connection, which gets its public addresses only. */
export const publicLookup: LookupFunction = (hostname, options, done) => {
  lookup(hostname, { ...options, all: true }, (error, found) => {
    const usable = error ? [] : found.filter(({ address }) => isPublic(address));
    const [first] = usable;
    if (error || !first) done(error ?? refused(hostname, namesOf(found)), []);
    else if (options.all) done(null, usable);
    else done(null, first.address, first.family);
  });
};

function namesOf(found: readonly LookupAddress[]): string {
  return found.map(({ address }) => address).join(', ');
}

function refused(hostname: string, address: string): SiteError {
  return new SiteError(
    `leads to ${hostname} (${address}), which is no public address and was not asked; list a public one`,
  );
}
