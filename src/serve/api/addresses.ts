import { BlockList, isIP } from 'node:net';

/**
 * Makes a check whether an address is one of these.
 *
 * @param ranges addresses, or ranges such as `10.0.0.0/8`
 */
export function addressesIn(ranges: readonly string[]): (address: string) => boolean {
  const known = new BlockList();
  for (const range of ranges) {
    const [address = '', bits] = range.split('/');
    if (bits === undefined) known.addAddress(address, familyOf(address));
    else known.addSubnet(address, Number(bits), familyOf(address));
  }
  return (address) => isIP(address) !== 0 && known.check(address, familyOf(address));
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIP(address) === 4 ? 'ipv4' : 'ipv6';
}

const IPV4_IN_IPV6 = /^::ffff:[0-9a-f]+:[0-9a-f]+$/;
const isLoopbackAddress = addressesIn(['127.0.0.0/8', '::1']);

/** Whether only this machine can reach what listens on this address. Of host names, only `localhost` counts. */
export function isLoopback(host: string): boolean {
  return host.toLowerCase() === 'localhost' || isLoopbackAddress(host);
}

/**
 * The network of a client address, to count by: of IPv6 the first 64 bits, because a client may use any address in them;
 * of IPv4 the address, also where it is written as IPv6.
 */
export function networkOf(address: string): string {
  const [bare = ''] = address.split('%');
  const long = isIP(bare) === 4 ? `::ffff:${bare}` : bare;
  if (isIP(long) !== 6) return address;
  const shortest = new URL(`http://[${long}]`).hostname.slice(1, -1);
  if (IPV4_IN_IPV6.test(shortest)) return shortest;
  const [head = [], tail = []] = shortest.split('::').map((part) => part.split(':').filter(Boolean));
  const zeros = Array(8 - head.length - tail.length).fill('0');
  return [...head, ...zeros, ...tail].slice(0, 4).join(':');
}
