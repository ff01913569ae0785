{-# LANGUAGE MagicHash, UnboxedTuples, BangPatterns #-}
-- Accumulators carry a bang in every clause: a bang in a literal-matching first clause is never
-- reached when the literal fails, and across IO steps the lazy sum then retains every dropped tree.
-- full laziness / CSE off: otherwise GHC is entitled to build `make d` once and share it
-- between the iterations that the workload definition says allocate afresh.
{-# OPTIONS_GHC -O2 -fno-full-laziness -fno-cse #-}
-- The workloads of workloads/src in Haskell (base only, primops through GHC.Exts).
module Main (main) where

import GHC.Exts
import GHC.IO (IO (..))
import GHC.IORef (IORef (..), newIORef, readIORef, writeIORef)
import Data.Bits (countLeadingZeros, unsafeShiftL, unsafeShiftR, xor)
import Control.Concurrent (forkOn)
import Control.Concurrent.MVar
import Control.Monad (forM, forM_)
import Data.Word (Word64)
import Foreign.C.Types (CInt (..), CUInt (..))
import GHC.Clock (getMonotonicTimeNSec)
import System.Environment (getArgs)
import System.IO (hPutStrLn, stderr)
import System.Exit (exitFailure)

------------------------------------------------------------------ SplitMix64
gamma :: Word
gamma = 0x9E3779B97F4A7C15
{-# INLINE gamma #-}

finish :: Word -> Word
finish z0 =
  let z1 = (z0 `xor` (z0 `unsafeShiftR` 30)) * 0xBF58476D1CE4E5B9
      z2 = (z1 `xor` (z1 `unsafeShiftR` 27)) * 0x94D049BB133111EB
  in z2 `xor` (z2 `unsafeShiftR` 31)
{-# INLINE finish #-}

mix :: Word -> Word
mix k = finish (k + gamma)
{-# INLINE mix #-}

------------------------------------------------------------------ arrays
data Arr a = Arr (MutableArray# RealWorld a)      -- card-marked boxed array
data MBytes = MBytes (MutableByteArray# RealWorld)

newArr :: Int -> a -> IO (Arr a)
newArr (I# n) x = IO $ \s -> case newArray# n x s of (# s1, a #) -> (# s1, Arr a #)
{-# INLINE newArr #-}

readArr :: Arr a -> Int -> IO a
readArr (Arr a) (I# i) = IO $ \s -> readArray# a i s
{-# INLINE readArr #-}

writeArr :: Arr a -> Int -> a -> IO ()
writeArr (Arr a) (I# i) x = IO $ \s -> case writeArray# a i x s of s1 -> (# s1, () #)
{-# INLINE writeArr #-}

data Bytes = Bytes ByteArray#

filledBytes :: Int -> Int -> IO Bytes
filledBytes (I# n) (I# v) = IO $ \s -> case newByteArray# n s of
  (# s1, mb #) -> case setByteArray# mb 0# n v s1 of
    s2 -> case unsafeFreezeByteArray# mb s2 of
      (# s3, b #) -> (# s3, Bytes b #)
{-# INLINE filledBytes #-}

firstByte :: ByteArray# -> Word
firstByte b = W# (indexWord8Array# b 0#)
{-# INLINE firstByte #-}

------------------------------------------------------------------ binary_trees, par_trees
data Tree = TNil | TNode !Tree !Tree

make :: Int -> IO Tree
make 0 = return (TNode TNil TNil)
make d = do
  !l <- make (d - 1)
  !r <- make (d - 1)
  return (TNode l r)

check :: Tree -> Word
check (TNode TNil _) = 1
check (TNode l r)    = 1 + check l + check r
check TNil           = 0

binaryTrees :: Int -> IO Word
binaryTrees n = do
  let !mx = max n 6
  !stretch <- make (mx + 1)
  let !c0 = check stretch
  !long <- make mx
  let depths !d !c
        | d > mx    = return c
        | otherwise = do { !c' <- reps d (1 `unsafeShiftL` (mx - d + 4)) c; depths (d + 2) c' }
      reps :: Int -> Int -> Word -> IO Word
      reps !d !k !c
        | k == 0    = return c
        | otherwise = do { !t <- make d; reps d (k - 1) (c + check t) }
  c <- depths 4 c0
  return $! c + check long
{-# NOINLINE binaryTrees #-}

parTrees :: Int -> Int -> IO Word
parTrees t n = do
  vs <- forM [0 .. t - 1] $ \i -> do
    v <- newEmptyMVar
    _ <- forkOn i $ do { c <- binaryTrees (n - i); c `seq` putMVar v c }
    return v
  sum <$> mapM takeMVar vs

------------------------------------------------------------------ gcbench
-- Mutable children: one MutVar# each (unpacked IORef), so a node is 5 words + 2 * 2 words.
data GNode = GNil | GNode {-# UNPACK #-} !(IORef GNode) {-# UNPACK #-} !(IORef GNode) !Word !Word

fresh :: IO GNode
fresh = do { l <- newIORef GNil; r <- newIORef GNil; return (GNode l r 0 0) }
{-# INLINE fresh #-}

bottomUp :: Int -> IO GNode
bottomUp d
  | d <= 0 = fresh
  | otherwise = do
      !a <- bottomUp (d - 1)
      !b <- bottomUp (d - 1)
      l <- newIORef a
      r <- newIORef b
      return (GNode l r 0 0)

populate :: Int -> GNode -> IO ()
populate !_ GNil = return ()
populate d (GNode l r _ _)
  | d <= 0 = return ()
  | otherwise = do
      !a <- fresh
      writeIORef l a
      !b <- fresh
      writeIORef r b
      populate (d - 1) a
      populate (d - 1) b

countNodes :: GNode -> IO Word
countNodes GNil = return 0
countNodes (GNode l r _ _) = do
  !a <- readIORef l >>= countNodes
  !b <- readIORef r >>= countNodes
  return $! 1 + a + b

gcbench :: Int -> Int -> Int -> IO Word
gcbench stretch longD arrN = do
  s <- bottomUp stretch
  case s of { GNil -> return (); GNode _ _ _ _ -> return () }
  long <- fresh
  populate longD long
  MBytes arr <- newDoubles arrN
  let fill !k | k >= arrN `quot` 2 = return ()
              | otherwise = wr arr k (1 / fromIntegral (k + 1)) >> fill (k + 1)
  fill 0
  let treeSize :: Int -> Int
      treeSize d = (1 `unsafeShiftL` (d + 1)) - 1
      depths !d !k
        | d > longD = return k
        | otherwise = do
            let !it = (2 * treeSize stretch) `quot` treeSize d
            down d it
            up d it
            depths (d + 2) (k + 2 * fromIntegral it)
      down :: Int -> Int -> IO ()
      down !d !i | i == 0    = return ()
                 | otherwise = do { !t <- fresh; populate d t; down d (i - 1) }
      up :: Int -> Int -> IO ()
      up !d !i | i == 0    = return ()
               | otherwise = do { !_t <- bottomUp d; up d (i - 1) }
  k <- depths 4 (0 :: Word)
  nodes <- countNodes long
  let count !i !c | i >= arrN = return c
                  | otherwise = do { x <- rd arr i; count (i + 1) (if x /= 0 then c + 1 else c) }
  nz <- count 0 (0 :: Word)
  return $! nodes + nz + k
  where
    newDoubles (I# n) = IO $ \s -> case newByteArray# (n *# 8#) s of
      (# s1, mb #) -> case setByteArray# mb 0# (n *# 8#) 0# s1 of s2 -> (# s2, MBytes mb #)
    wr mb (I# i) (D# x) = IO $ \s -> case writeDoubleArray# mb i x s of s1 -> (# s1, () #)
    rd mb (I# i) = IO $ \s -> case readDoubleArray# mb i s of (# s1, x #) -> (# s1, D# x #)

------------------------------------------------------------------ long_list
data List = LNil | LCons !List !Word          -- 3 words

sumList :: List -> Word
sumList = go 0 where
  go !c LNil = c
  go !c (LCons n v) = go (c + v) n

shortList :: Word -> IO List
shortList n = go n LNil where
  go :: Word -> List -> IO List
  go !k !l | k == 0    = return l
           | otherwise = go (k - 1) (LCons l (k - 1))
{-# NOINLINE shortList #-}

longList :: Int -> Int -> IO Word
longList n m = do
  let build :: Int -> Word -> List -> IO List
      build !k !s !l
        | k == 0    = return l
        | otherwise = let !s' = s + gamma in build (k - 1) s' (LCons l (finish s'))
  !kept <- build n 1 LNil
  let churn :: Int -> Word -> IO Word
      churn !k !c
        | k == 0    = return c
        | otherwise = do { !l <- shortList 10; churn (k - 1) (c + sumList l) }
  !c <- churn m 0
  return $! c + sumList kept

------------------------------------------------------------------ mut_array
data Box = Box !Word

mutArray :: Int -> Int -> IO Word
mutArray n u = do
  arr <- newArr n (Box 0)
  let initA !i | i >= n = return ()
               | otherwise = do { let { !b = Box (fromIntegral i) }; writeArr arr i b; initA (i + 1) }
  initA 0
  let !nw = fromIntegral n :: Word
      upd :: Int -> Word -> IO ()
      upd !k !s = if k == 0 then return () else do
        let !s1 = s + gamma
            !s2 = s1 + gamma
            !b  = Box (finish s2)
        writeArr arr (fromIntegral (finish s1 `rem` nw)) b
        upd (k - 1) s2
  upd u 2
  let total !i !c | i >= n = return c
                  | otherwise = do { Box v <- readArr arr i; total (i + 1) (c + v) }
  total 0 0

------------------------------------------------------------------ hash_churn
-- 4 words + MutVar# (2 words) + byte array (2 words + payload)
data Entry = ENil | Entry !Word ByteArray# {-# UNPACK #-} !(IORef Entry)

hashChurn :: Int -> Int -> Int -> IO Word
hashChurn b kk u = do
  arr <- newArr b ENil
  let !bw = fromIntegral b :: Word
      !kw = fromIntegral kk :: Word
      step :: Int -> Word -> IO ()
      step !i !s = if i == 0 then return () else do
        let !s1  = s + gamma
            !key = finish s1 `rem` kw
            !bkt = fromIntegral (mix key `rem` bw) :: Int
        h <- readArr arr bkt
        case h of
          Entry k _ nx | k == key -> do { !t <- readIORef nx; writeArr arr bkt t }
          ENil -> prepend key bkt h
          Entry _ _ nx -> chase key bkt h nx
        step (i - 1) s1
      chase :: Word -> Int -> Entry -> IORef Entry -> IO ()
      chase !key !bkt h !prev = do
        e <- readIORef prev
        case e of
          ENil -> prepend key bkt h
          Entry k _ nx
            | k == key  -> do { !t <- readIORef nx; writeIORef prev t }
            | otherwise -> chase key bkt h nx
      prepend :: Word -> Int -> Entry -> IO ()
      prepend !key !bkt !h = do
        Bytes bs <- filledBytes (fromIntegral (16 + key `rem` 48)) (fromIntegral (key `rem` 256))
        nx <- newIORef h
        let !e = Entry key bs nx
        writeArr arr bkt e
  step u 3
  let chain :: Entry -> Word -> IO Word
      chain ENil !c = return c
      chain (Entry k bs nx) !c = do
        !t <- readIORef nx
        chain t (c + k + fromIntegral (I# (sizeofByteArray# bs)) + firstByte bs)
      total !i !c | i >= b = return c
                  | otherwise = do { !h <- readArr arr i; !c' <- chain h c; total (i + 1) c' }
  total 0 (0 :: Word)

------------------------------------------------------------------ message_window
-- left, right, message, key, priority: 6 words
data Treap = Nil | Node !Treap !Treap ByteArray# !Word !Word

split :: Word -> Treap -> (# Treap, Treap #)
split !_ Nil = (# Nil, Nil #)
split k (Node l r m key p)
  | key < k   = case split k r of (# a, b #) -> (# Node l a m key p, b #)
  | otherwise = case split k l of (# a, b #) -> (# a, Node b r m key p #)

insert :: Word -> Word -> ByteArray# -> Treap -> Treap
insert k p m Nil = Node Nil Nil m k p
insert k p m t@(Node l r m' k' p')
  | p > p'    = case split k t of (# a, b #) -> Node a b m k p
  | k < k'    = Node (insert k p m l) r m' k' p'
  | otherwise = Node l (insert k p m r) m' k' p'

deleteMin :: Treap -> Treap
deleteMin Nil = Nil
deleteMin (Node Nil r _ _ _) = r
deleteMin (Node l r m k p)   = Node (deleteMin l) r m k p

messageWindow :: Int -> Int -> Int -> IO Word
messageWindow w m p = do
  let go :: Int -> Int -> Treap -> IO Treap
      go !i !size !t
        | i >= m = return t
        | otherwise = do
            let !k = fromIntegral i :: Word
            Bytes msg <- filledBytes p (fromIntegral (k `rem` 256))
            let !t1 = insert k (mix k) msg t
            if size + 1 > w
              then do { let { !t2 = deleteMin t1 }; go (i + 1) size t2 }
              else go (i + 1) (size + 1) t1
      total :: Treap -> Word -> Word
      total Nil !c = c
      total (Node l r msg k _) !c = total r (total l (c + k + firstByte msg))
  t <- go 0 0 Nil
  return $! total t 0

------------------------------------------------------------------ server
-- 3 words, and a byte array of 2 words + 1000 bytes
data CacheEntry = CNil | CacheEntry !Word ByteArray#

cacheStore :: Arr CacheEntry -> Word -> Word -> IO Bytes
cacheStore cache !slots !key = do
  Bytes value <- filledBytes 1000 (fromIntegral (key `rem` 256))
  let !e = CacheEntry key value
  writeArr cache (fromIntegral (key `rem` slots)) e
  return (Bytes value)

-- A list whose head is made last, and its generator's state.
drawList :: Int -> Word -> IO List
drawList k0 s0 = go k0 s0 LNil where
  go :: Int -> Word -> List -> IO List
  go !k !s !l
    | k == 0    = return l
    | otherwise = let !s' = s + gamma in go (k - 1) s' (LCons l (finish s'))
{-# NOINLINE drawList #-}

answer :: Arr CacheEntry -> Word -> Word -> IO Word
answer cache !slots !request = do
  let !s0 = mix request
      !s1 = s0 + gamma
      !s2 = s1 + gamma
      !popular = 1 + finish s1 `rem` (4 * slots)
      !key = finish s2 `rem` popular
  !l <- drawList 500 s2
  cached <- readArr cache (fromIntegral (key `rem` slots))
  Bytes value <- case cached of
    CacheEntry k v | k == key -> return (Bytes v)
    _ -> cacheStore cache slots key
  return $! sumList l + key + firstByte value + W# (indexWord8Array# value 999#)

-- Safe calls: collections do not wait for them.
foreign import ccall safe "usleep" usleep :: CUInt -> IO CInt
foreign import ccall safe "sched_yield" schedYield :: IO CInt

waitUntil :: Word64 -> IO ()
waitUntil due = do
  now <- getMonotonicTimeNSec
  if now >= due then return () else do
    let !left = due - now
    _ <- if left > 200000 then usleep (fromIntegral ((left - 200000) `quot` 1000)) else schedYield
    waitUntil due

-- Latencies in nanoseconds, to three digits: below 2048 a slot for each; above, 1024 slots for each
-- power of two. The last slot has the longest.
histogramSlots :: Int
histogramSlots = 60 * 1024

newWords :: Int -> IO MBytes
newWords (I# n) = IO $ \s -> case newByteArray# (n *# 8#) s of
  (# s1, b #) -> case setByteArray# b 0# (n *# 8#) 0# s1 of s2 -> (# s2, MBytes b #)

readWord :: MBytes -> Int -> IO Int
readWord (MBytes b) (I# i) = IO $ \s -> case readIntArray# b i s of (# s1, x #) -> (# s1, I# x #)

writeWord :: MBytes -> Int -> Int -> IO ()
writeWord (MBytes b) (I# i) (I# x) = IO $ \s -> case writeIntArray# b i x s of s1 -> (# s1, () #)

fetchAdd :: MBytes -> IO Int
fetchAdd (MBytes b) = IO $ \s -> case fetchAddIntArray# b 0# 1# s of (# s1, x #) -> (# s1, I# x #)

record :: MBytes -> Int -> IO ()
record h !ns = do
  let !shift = max 0 (53 - countLeadingZeros (fromIntegral ns :: Word64))
      !slot = (shift `unsafeShiftL` 10) + (ns `unsafeShiftR` shift)
  readWord h slot >>= writeWord h slot . (+ 1)
  longest <- readWord h histogramSlots
  if ns > longest then writeWord h histogramSlots ns else return ()

-- The highest latency of all but one in `rarer` requests.
exceededByOneIn :: Int -> Int -> MBytes -> IO Int
exceededByOneIn requests rarer h = go 0 (requests - requests `quot` rarer) where
  go :: Int -> Int -> IO Int
  go !i !left = do
    n <- readWord h i
    let !shift = max 0 (i `unsafeShiftR` 10 - 1)
    if left <= n
      then return $! ((i - shift `unsafeShiftL` 10 + 1) `unsafeShiftL` shift) - 1
      else go (i + 1) (left - n)

printLatency :: Int -> Double -> MBytes -> IO ()
printLatency requests seconds h = do
  let percentiles = [("p50", 2), ("p90", 10), ("p99", 100), ("p99_9", 1000), ("p99_99", 10000)]
  figures <- forM [f | f@(_, rarer) <- percentiles, requests >= rarer] $ \(name, rarer) -> do
    ns <- exceededByOneIn requests rarer h
    return (" " ++ name ++ "_ns=" ++ show ns)
  longest <- readWord h histogramSlots
  hPutStrLn stderr ("latency requests=" ++ show requests ++ concat figures ++ " max_ns=" ++ show longest
    ++ " per_second=" ++ show (round (fromIntegral requests / seconds) :: Int))

server :: Int -> Int -> Int -> Int -> IO Word
server threads requests slots rate = do
  let !n = fromIntegral slots :: Word
  cache <- newArr slots CNil
  let fill !k | k >= n = return ()
              | otherwise = cacheStore cache n k >> fill (k + 1)
  fill 0
  next <- newWords 1
  began <- getMonotonicTimeNSec
  let !start = began + 20000000
      serve :: MBytes -> Word -> IO Word
      serve h !c = do
        r <- fetchAdd next
        if r >= requests then return c else do
          due <- if rate > 0
            then do
              let !due = start + fromIntegral (r `quot` rate * 1000000000 + r `rem` rate * 1000000000 `quot` rate)
              waitUntil due
              return due
            else getMonotonicTimeNSec
          !a <- answer cache n (fromIntegral r)
          end <- getMonotonicTimeNSec
          record h (fromIntegral (end - due))
          serve h (c + a)
  vs <- forM [0 .. threads - 1] $ \i -> do
    v <- newEmptyMVar
    _ <- forkOn i $ do
      h <- newWords (histogramSlots + 1)
      c <- serve h 0
      c `seq` putMVar v (c, h)
    return v
  served <- mapM takeMVar vs
  ended <- getMonotonicTimeNSec
  let (sums, histograms) = unzip served
  every <- newWords (histogramSlots + 1)
  forM_ histograms $ \h -> do
    forM_ [0 .. histogramSlots - 1] $ \i -> do
      a <- readWord every i
      b <- readWord h i
      writeWord every i (a + b)
    longest <- max <$> readWord every histogramSlots <*> readWord h histogramSlots
    writeWord every histogramSlots longest
  printLatency requests (fromIntegral (ended - began) * 1e-9) every
  return $! sum sums

------------------------------------------------------------------ main
main :: IO ()
main = do
  args <- getArgs
  let run w io = io >>= \c -> putStrLn (w ++ " checksum=" ++ show c)
  case args of
    (w : as) -> case (w, map read as) of
      ("binary_trees", [n])         -> run w (binaryTrees n)
      ("gcbench", [s, l, a])        -> run w (gcbench s l a)
      ("long_list", [n, m])         -> run w (longList n m)
      ("mut_array", [n, u])         -> run w (mutArray n u)
      ("hash_churn", [b, k, u])     -> run w (hashChurn b k u)
      ("message_window", [a, m, p]) -> run w (messageWindow a m p)
      ("par_trees", [t, n])         -> run w (parTrees t n)
      ("server", [t, r, n, q])      -> run w (server t r n q)
      _ -> usage
    _ -> usage
  where
    usage = hPutStrLn stderr "usage: peers WORKLOAD ARGS..." >> exitFailure
