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

const isLoopbackAddress = addressesIn(['127.0.0.0/8', '::1']);

/** Whether only this machine can reach what listens on this address. Of host names, only `localhost` counts. */
export function isLoopback(host: string): boolean {
  return host.toLowerCase() === 'localhost' || isLoopbackAddress(host);
}

/** A path in front of `/v1`, or nothing. */
export const PREFIX_FORM = /^(?:\/[A-Za-z0-9._~-]+)*$/;
