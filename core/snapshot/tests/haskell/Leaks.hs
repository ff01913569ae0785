-- Programs with a known heap: `leaks LEAK COUNT` fills it, collects, and stops itself.
-- Everything is exported, because GHC makes symbols only for exported names.
module Main where

import Control.Concurrent
import Control.Concurrent.STM
import Control.Exception
import Control.Monad
import Data.Array
import Data.Array.IO
import qualified Data.ByteString.Char8 as B
import Data.IORef
import qualified Data.Map.Strict as M
import Foreign.StablePtr
import System.Environment
import System.IO
import System.IO.Unsafe
import System.Mem
import System.Mem.Weak
import System.Posix.Signals

data Session = Session !Int [Event]
data Event = Event !Int String
data Ticker = Ticker !Int Integer

table :: [Integer]
table = scanl (+) 0 [1 ..]

{-# NOINLINE registry #-}
registry :: IORef (M.Map Int Session)
registry = unsafePerformIO (newIORef M.empty)

session :: Int -> Session
session i = Session i [Event k "x" | k <- [i .. i + 4]]

stop :: IO ()
stop = do
  putStrLn "ready"
  hFlush stdout
  performMajorGC
  raiseSignal sigSTOP

main :: IO ()
main = do
  [leak, count] <- getArgs
  let n = read count :: Int
  case leak of
    "map" -> do
      forM_ [1 .. n] $ \i -> modifyIORef' registry (M.insert i (session i))
      stop
      readIORef registry >>= print . M.size
    "caf" -> print (table !! n) >> stop >> print (table !! 5)
    "foldl" -> do
      total <- newIORef 0
      forM_ [1 .. n] $ \i -> modifyIORef total (+ i)
      stop
      readIORef total >>= print
    "thread" -> do
      done <- newEmptyMVar
      forM_ [1 .. n] $ \i -> forkIO $ do
        let xs = [Ticker k (fromIntegral k) | k <- [i .. i + 50]]
        _ <- evaluate (length xs)
        r <- takeMVar done
        print (r + length xs)
      threadDelay 100000
      stop
      putMVar done 1
    "stable" -> do
      pointers <- mapM (newStablePtr . session) [1 .. n]
      stop
      mapM_ freeStablePtr pointers
    _ -> do
      variable <- newTVarIO (M.fromList [(i, show i) | i <- [1 .. n]])
      cells <- newArray (0, n) (Just 'x') :: IO (IOArray Int (Maybe Char))
      let texts = [B.pack (show i) | i <- [1 .. n]]
          adders = listArray (0, n) [(+) i | i <- [1 .. n]] :: Array Int (Int -> Int)
      _ <- evaluate (sum (map B.length texts))
      weak <- mkWeakPtr texts (Just (putStrLn "gone"))
      _ <- evaluate (sum [(adders ! i) 1 | i <- [0 .. n - 1]])
      _ <- forkIO (atomically (readTVar variable >>= \m -> when (M.size m > 0) retry))
      yield
      stop
      print (sum (map B.length texts))
      deRefWeak weak >>= print . fmap length
      print ((adders ! 3) 4)
      readArray cells 3 >>= print
      readTVarIO variable >>= print . M.size
